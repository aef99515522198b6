"""Predicts for one state in every step: an array that a session is fed, and no pipeline."""

import numpy as np


class Agent:
    def __init__(self, model):
        self.model = model

    def play(self, environment):
        state, done = environment.reset(), False
        while not done:
            values = self.model.predict(np.expand_dims(state, 0))
            state, reward, done, _ = environment.step(np.argmax(values))
