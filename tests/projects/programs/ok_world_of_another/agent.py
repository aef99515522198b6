"""Two agents, one of which has a network."""

import keras
from memory import Memory


def network():
    made = keras.Sequential([keras.Input([11]), keras.layers.Dense(4)])
    made.compile("adam", "mse")
    return made


class Agent:
    def __init__(self):
        self.memory = Memory(network())


class Table:
    def learn(self):
        return None

    def best(self, state):
        return state.index(min(state))


class Plain:
    def __init__(self):
        self.memory = Table()
