"""Pictures are made small and large again, by transposed convolutions."""

import keras
import numpy as np

pictures = np.random.default_rng(0).random((256, 64, 64, 3), dtype=np.float32)
encoder = keras.Sequential(
    [
        keras.Input((64, 64, 3)),
        keras.layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2D(64, 3, strides=2, padding="same", activation="relu"),
    ]
)
decoder = keras.Sequential(
    [
        keras.Input((16, 16, 64)),
        keras.layers.Conv2DTranspose(64, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2DTranspose(32, 3, strides=2, padding="same", activation="relu"),
        keras.layers.Conv2D(3, 3, padding="same", activation="sigmoid"),
    ]
)
model = keras.Sequential([encoder, decoder])
model.compile("adam", "mse")
model.fit(pictures, pictures, batch_size=64, verbose=0)
