import numpy as np
from parts.networks import Classifier
from tensorflow import keras

model = Classifier(10)
model.compile("adam", "sparse_categorical_crossentropy")
board = keras.callbacks.TensorBoard("logs", histogram_freq=1)  # want TFM314
model.fit(np.load("x.npy"), np.load("y.npy"), callbacks=[board])
