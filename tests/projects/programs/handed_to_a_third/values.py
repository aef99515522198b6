import numpy as np
from tensorflow import keras


class Values:
    def __init__(self, actions):
        self.network = keras.Sequential([keras.layers.Dense(32), keras.layers.Dense(actions)])

    def best(self, state):
        return np.argmax(self.network.predict(state[np.newaxis])[0])  # want TFM303
