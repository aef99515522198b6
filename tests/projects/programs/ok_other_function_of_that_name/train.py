import tensorflow as tf

from data import make_files as make_dataset

dataset = make_dataset("*.jpg").shuffle(1000).map(tf.io.read_file).batch(32)
for batch in dataset:
    print(tf.size(batch))
