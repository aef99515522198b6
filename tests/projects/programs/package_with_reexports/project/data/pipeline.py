import tensorflow as tf


def _read(path):
    return tf.image.resize(tf.io.decode_image(tf.io.read_file(path), expand_animations=False), (160, 160))


def make_pipeline(files, batch_size=16):
    dataset = tf.data.Dataset.from_tensor_slices(files)
    return dataset.map(_read).batch(batch_size)
