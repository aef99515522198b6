import numpy as np

from model import build_model

x = np.load("x.npy")
y = np.load("y.npy")

scores = {}
for units in range(8, 512, 8):
    model = build_model(units)  # want TFM301
    history = model.fit(x, y, epochs=5, batch_size=32, verbose=0)
    scores[units] = min(history.history["loss"])
print(scores)
