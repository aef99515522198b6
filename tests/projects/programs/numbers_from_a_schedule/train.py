import tensorflow as tf

from schedule import rates

weights = tf.Variable(tf.zeros([64, 64]))


@tf.function
def update(rate, gradient):
    weights.assign_sub(rate * gradient)


for rate in rates(500):
    update(rate, tf.random.normal([64, 64]))  # want TFM101
