import numpy as np
import tensorflow.data as tfdata


class tf:
    """Not TensorFlow."""

    @staticmethod
    def GradientTape(persistent):
        return open("/dev/null")
