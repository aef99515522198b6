import numpy as np


def load_data(root):
    x = np.load(f"{root}/x_train.npy")
    y = np.load(f"{root}/y_train.npy")
    return x, y
