import tensorflow as tf

from steps import train_step

x = tf.random.normal([32, 8])
for step in range(1000):
    train_step(x, step / 1000)
