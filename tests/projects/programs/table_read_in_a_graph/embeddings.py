import numpy as np

VECTORS = np.load("glove.npy")
