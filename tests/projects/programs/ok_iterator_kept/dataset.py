import tensorflow as tf


def training_data():
    records = tf.data.TFRecordDataset(["a.tfrecord", "b.tfrecord"])
    return iter(records.shuffle(1000).batch(64).repeat())
