import numpy as np


def answer(model, state):
    return int(np.argmax(model.predict(state[np.newaxis])[0]))  # want TFM303
