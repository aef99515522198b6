import tensorflow.compat.v1 as tf


def stacked(pictures):
    small = [tf.image.resize(each, [32, 32]) for each in pictures]
    batch = tf.stack(small)
    return batch
