"""Pictures and a small stack of convolutions, with RMSprop."""

import keras
import numpy as np

x = np.random.default_rng(0).random((256, 96, 96, 3), dtype=np.float32)
y = np.random.default_rng(1).integers(0, 10, 256)
model = keras.Sequential(
    [
        keras.Input((96, 96, 3)),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(64, 3, padding="same", activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(128, activation="relu"),
        keras.layers.Dense(10, activation="softmax"),
    ]
)
model.compile("rmsprop", "sparse_categorical_crossentropy")
model.fit(x, y, batch_size=32, verbose=0)
