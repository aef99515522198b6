import tensorflow as tf

IMAGE_SIZE = (224, 224)


def decode(path):
    image = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(image, IMAGE_SIZE)


def make_dataset(pattern, batch_size):
    files = tf.data.Dataset.list_files(pattern)
    return files.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(batch_size)
