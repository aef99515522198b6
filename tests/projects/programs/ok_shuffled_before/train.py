import tensorflow as tf

from data import make_dataset


def decode(path):
    return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path)), (224, 224))


dataset = make_dataset("images/*.jpg").map(decode).batch(32).prefetch(tf.data.AUTOTUNE)
for batch in dataset:
    print(batch.shape)
