import tensorflow as tf

from buffer import Buffer

buffer = Buffer(128)
for step in range(5000):
    buffer.add(tf.random.normal([128]))
print(buffer.rows.shape)
