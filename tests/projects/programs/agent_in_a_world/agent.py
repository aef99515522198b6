"""An agent, and its network."""

import keras
from memory import Memory


def network():
    made = keras.Sequential([keras.Input([11]), keras.layers.Dense(4)])
    made.compile("adam", "mse")
    return made


class Agent:
    def __init__(self):
        self.memory = Memory(network())
