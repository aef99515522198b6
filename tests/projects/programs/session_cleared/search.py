import numpy as np

from model import build_model

x = np.random.rand(256, 20)
y = np.random.rand(256)
for units in range(8, 512, 8):
    model = build_model(units)  # want TFM301
    model.fit(x, y, epochs=1, batch_size=32, verbose=0)
