import tensorflow as tf


def decoded(record):
    return tf.io.parse_tensor(record, tf.float32)


class TaskLoader:
    def __init__(self, files, ways):
        self.files = files
        self.ways = ways

    def tasks(self, count):
        tasks = tf.data.TFRecordDataset(self.files).map(decoded).batch(self.ways)
        return tasks.repeat().take(count)
