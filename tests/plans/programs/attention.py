"""Two blocks of self-attention over embedded words."""

import keras
import numpy as np

LENGTH, WIDTH = 128, 128


def block(x):
    attended = keras.layers.MultiHeadAttention(num_heads=4, key_dim=32)(x, x)
    x = keras.layers.LayerNormalization()(keras.layers.Add()([x, attended]))
    wide = keras.layers.Dense(4 * WIDTH, activation="relu")(x)
    narrow = keras.layers.Dense(WIDTH)(wide)
    return keras.layers.LayerNormalization()(keras.layers.Add()([x, narrow]))


words = np.random.default_rng(0).integers(0, 8000, (512, LENGTH))
kinds = np.random.default_rng(1).integers(0, 4, 512)
inputs = keras.Input((LENGTH,))
x = keras.layers.Embedding(8000, WIDTH)(inputs)
x = block(block(x))
outputs = keras.layers.Dense(4)(keras.layers.GlobalAveragePooling1D()(x))
model = keras.Model(inputs, outputs)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss)
model.fit(words, kinds, batch_size=32, verbose=0)
