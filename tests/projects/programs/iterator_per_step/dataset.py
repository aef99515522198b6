import tensorflow as tf


def training_data():
    records = tf.data.TFRecordDataset(["a.tfrecord", "b.tfrecord"])
    return records.shuffle(10000).map(lambda record: tf.io.parse_tensor(record, tf.float32)).batch(64).repeat()
