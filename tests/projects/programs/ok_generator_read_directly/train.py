import tensorflow as tf

from reader import examples


def squares():
    for number in range(10):
        yield number * number


dataset = tf.data.Dataset.from_generator(
    squares, output_signature=tf.TensorSpec([], tf.int32)
).batch(8)
for batch in dataset:
    print(tf.reduce_mean(batch))
for array in examples():
    print(array.shape)
