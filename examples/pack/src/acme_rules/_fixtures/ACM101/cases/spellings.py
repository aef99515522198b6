import numpy as np
from tensorflow import data as tfd


def pipelines(paths):
    for path in paths:
        yield tfd.Dataset.from_tensor_slices(np.load(path).tolist())  # want ACM101 "a list takes"
