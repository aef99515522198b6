"""Reviews as numbers of words, an embedding and an LSTM."""

import keras
import numpy as np

words = np.random.default_rng(0).integers(0, 20000, (1024, 200))
liked = np.random.default_rng(1).integers(0, 2, 1024)
model = keras.Sequential()
model.add(keras.Input((200,)))
model.add(keras.layers.Embedding(20000, 128))
model.add(keras.layers.LSTM(128))
model.add(keras.layers.Dense(1, activation="sigmoid"))
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(words, liked, batch_size=64, verbose=0)
