import tensorflow as tf


def batches(path, batch_size=32):
    lines = tf.data.TFRecordDataset(path)
    images = lines.map(lambda line: tf.image.resize(tf.io.decode_png(line), (64, 64)))
    return images.batch(batch_size)
