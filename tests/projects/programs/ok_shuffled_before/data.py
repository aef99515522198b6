import tensorflow as tf


def make_dataset(pattern):
    return tf.data.Dataset.list_files(pattern).shuffle(1000)
