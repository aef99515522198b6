import glob

import numpy as np


def examples():
    arrays = [np.load(path) for path in glob.glob("data/*.npy")]
    for array in arrays:
        yield array
