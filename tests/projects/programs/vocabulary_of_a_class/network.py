import tensorflow as tf


class Network:
    def __init__(self, vocabulary=None):
        self.words = tf.placeholder(tf.int32, [None, None])
        if vocabulary is not None:
            self.table = tf.get_variable("table", initializer=tf.constant(vocabulary.vectors))  # want TFM105
            self.inputs = tf.nn.embedding_lookup(self.table, self.words)
