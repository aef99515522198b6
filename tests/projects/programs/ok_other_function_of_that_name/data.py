import tensorflow as tf


def make_dataset(pattern, batch_size):
    return tf.data.Dataset.list_files(pattern).map(tf.io.read_file).batch(batch_size)


def make_files(pattern):
    return tf.data.Dataset.list_files(pattern)
