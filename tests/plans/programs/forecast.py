"""What comes next in many series at once, by two GRUs and a pipeline of windows."""

import numpy as np
import tensorflow as tf

STEPS, SERIES, AHEAD = 96, 32, 24
windows = np.random.default_rng(0).random((2000, STEPS, SERIES), dtype=np.float32)
targets = np.random.default_rng(1).random((2000, AHEAD), dtype=np.float32)
data = tf.data.Dataset.from_tensor_slices((windows, targets)).shuffle(500).batch(100).prefetch(1)
inputs = tf.keras.Input((STEPS, SERIES))
x = tf.keras.layers.GRU(128, return_sequences=True)(inputs)
x = tf.keras.layers.Dropout(0.2)(x)
x = tf.keras.layers.GRU(64)(x)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(AHEAD)(x))
model.compile("adam", "mae")
model.fit(data, epochs=1, verbose=0)
