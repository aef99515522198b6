"""Look-alikes: nothing here is worth a word."""

import numpy as np
import tensorflow as tf


class Values:
    def tolist(self, how):
        return np.zeros(8)


def from_tensor_slices(values):
    return values


# The array itself.
tf.data.Dataset.from_tensor_slices(np.zeros(8))
# A method of ours that takes an argument is no array's.
tf.data.Dataset.from_tensor_slices(Values().tolist("so"))
# Another function of the same name.
from_tensor_slices(np.zeros(8).tolist())
# A list that goes somewhere else.
print(np.zeros(8).tolist())
