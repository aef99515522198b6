import numpy as np


def load(root):
    return np.load(f"{root}/x.npy", mmap_mode="r")
