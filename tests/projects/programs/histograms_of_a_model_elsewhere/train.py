import numpy as np
from parts.callbacks import Callbacks
from parts.networks import classifier
from tensorflow import keras

x, y = np.load("x.npy"), np.load("y.npy")
model, _ = classifier(10)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, epochs=5, callbacks=Callbacks("logs").callbacks)
model.fit(x, y, callbacks=[keras.callbacks.TensorBoard("more", histogram_freq=1)])  # want TFM314
