import numpy as np


class Tree:
    """No Keras at all."""

    def load_weights(self, path):
        self.splits = np.load(path)

    def predict(self, rows):
        return rows @ self.splits


def trees():
    return [Tree()]
