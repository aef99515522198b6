import tensorflow as tf


def input_fn(files):
    dataset = tf.data.TFRecordDataset(files)
    dataset = dataset.shuffle(20000)
    return dataset.batch(32).prefetch(1)
