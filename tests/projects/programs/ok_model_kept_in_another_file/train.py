import numpy as np

from network import network

x = np.load("x.npy")
y = np.load("y.npy")
for round_ in range(40):
    model = network(64)
    model.fit(x, y, epochs=1, batch_size=32)
