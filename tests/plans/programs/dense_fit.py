"""A wide network on rows of numbers, with Adam."""

import keras
import numpy as np

x = np.random.default_rng(0).random((4096, 512), dtype=np.float32)
y = np.random.default_rng(1).integers(0, 10, 4096)
model = keras.Sequential(
    [
        keras.Input((512,)),
        keras.layers.Dense(2048, activation="relu"),
        keras.layers.Dense(2048, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=256, verbose=0)
