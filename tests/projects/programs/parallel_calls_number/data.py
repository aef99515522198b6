import tensorflow as tf

from params import params


def load(path):
    return tf.image.resize(tf.io.decode_png(tf.io.read_file(path)), (512, 512))


dataset = tf.data.Dataset.list_files("*.png")
dataset = dataset.map(load, num_parallel_calls=params["workers"])  # want TFM210
dataset = dataset.batch(params["batch"])
for batch in dataset:
    print(batch.shape)
