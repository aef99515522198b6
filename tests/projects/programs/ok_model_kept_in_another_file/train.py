import numpy as np

from network import model

x = np.load("x.npy")
y = np.load("y.npy")
for round_ in range(40):
    model.fit(x, y, epochs=1, batch_size=32)
