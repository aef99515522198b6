import numpy as np


class Splits:
    def __init__(self, path):
        archive = np.load(path)
        self.x = archive["x"]
        self.y = archive["y"]
