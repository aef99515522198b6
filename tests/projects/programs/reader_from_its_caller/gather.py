import numpy as np


def gather(paths, read):
    found = []
    for path in paths:
        found.append(read(path))
    return np.stack(found)  # want TFM604
