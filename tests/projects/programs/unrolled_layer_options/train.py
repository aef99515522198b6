import numpy as np

from network import network

model = network()
model.compile("adam", "mse")
model.fit(np.load("x.npy"), np.load("y.npy"), epochs=2)
