import tensorflow as tf


class Network:
    def __init__(self, vocabulary=None):
        self.words = tf.placeholder(tf.int32, [None, None])
        if vocabulary is not None:
            # Fed once; and how wide it is, is one number.
            self.given = tf.placeholder(tf.float32, vocabulary.vectors.shape)
            self.table = tf.Variable(self.given, trainable=False)
            self.inputs = tf.nn.embedding_lookup(self.table, self.words) * tf.constant(vocabulary.width)
