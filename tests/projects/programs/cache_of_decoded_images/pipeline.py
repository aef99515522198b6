import tensorflow as tf


def decode(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (256, 256))


def decoded(pattern):
    return tf.data.Dataset.list_files(pattern).map(decode)
