import numpy as np


class Vocabulary:
    def __init__(self, path, width):
        self.numbers = {}
        self.width = width
        with open(path) as lines:
            found = [line.split(" ") for line in lines]
        self.vectors = np.zeros((len(found) + 1, width), dtype=np.float32)
        for number, (word, *values) in enumerate(found):
            self.numbers[word] = number
            self.vectors[number] = np.array(values, dtype="float32")
