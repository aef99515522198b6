"""All of the data goes through a network at once."""

import numpy as np
import tensorflow as tf

x = np.random.default_rng(0).random((8192, 256), dtype=np.float32)
model = tf.keras.Sequential(
    [
        tf.keras.Input((256,)),
        tf.keras.layers.Dense(2048, activation="relu"),
        tf.keras.layers.Dense(1024, activation="relu"),
        tf.keras.layers.Dense(1),
    ]
)
scores = model(x)
print(float(tf.reduce_mean(scores)))
