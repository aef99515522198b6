import tensorflow as tf

from reader import examples

dataset = tf.data.Dataset.from_generator(
    examples, output_signature=tf.TensorSpec([128, 128], tf.float32)
).batch(8)
for batch in dataset:
    print(tf.reduce_mean(batch))
