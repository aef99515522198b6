import tensorflow as tf


def read(name, label):
    image = tf.io.decode_jpeg(tf.io.read_file(name), channels=3)
    return tf.image.resize(image, (128, 128)), label


def batches(names, labels, size):
    dataset = tf.data.Dataset.from_tensor_slices((names, labels))
    dataset = dataset.map(read).batch(size)
    return dataset
