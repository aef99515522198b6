import tensorflow as tf


class Buffer:
    def __init__(self, width):
        self.rows = tf.zeros([0, width])

    def add(self, row):
        self.rows = tf.concat([self.rows, row[tf.newaxis]], axis=0)  # want TFM110
