import numpy as np
from tensorflow import keras


class Seer(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.hidden = keras.layers.Dense(width, activation="relu")
        self.out = keras.layers.Dense(4)

    def call(self, inputs):
        return self.out(self.hidden(inputs))

    def course(self, sky):
        return np.argmax(self.predict(sky))  # want TFM303
