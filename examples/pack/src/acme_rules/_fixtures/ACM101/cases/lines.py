import numpy as np
import tensorflow as tf

data = tf.data.Dataset.from_tensor_slices(
    np.load("values.npy")  # want ACM101 "a list takes"
    # of float32
    .tolist()
)
