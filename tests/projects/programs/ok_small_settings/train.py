import tensorflow as tf

import config


@tf.function
def roll(x):
    total = tf.zeros([8])
    for _ in range(config.TIME_STEPS):
        total = total + x
    return total


def parse(record):
    return tf.io.parse_tensor(record, tf.float32)


dataset = tf.data.TFRecordDataset("x.tfrecord").map(parse, num_parallel_calls=config.PARALLEL)
for batch in dataset.batch(16).prefetch(config.PREFETCH):
    print(roll(batch))
