import tensorflow as tf

from steps import train_step

x = tf.random.normal([32, 8])
y = tf.random.normal([32, 1])
for step in range(1000):
    train_step(x, y, step / 1000)  # want TFM101
