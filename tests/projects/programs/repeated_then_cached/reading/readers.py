import tensorflow as tf


def read_images(pattern, epochs):
    files = tf.data.Dataset.list_files(pattern)
    return files.map(tf.io.read_file).repeat(epochs)
