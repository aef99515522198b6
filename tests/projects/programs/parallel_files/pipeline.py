import tensorflow as tf

from options import Options

files = tf.data.Dataset.list_files("shards/*.tfrecord")
records = files.interleave(
    tf.data.TFRecordDataset,
    cycle_length=Options.cycle_length,  # want TFM209
    block_length=Options.block_length,
    num_parallel_calls=tf.data.AUTOTUNE,
)
for batch in records.batch(Options.batch_size):
    print(batch.shape)
