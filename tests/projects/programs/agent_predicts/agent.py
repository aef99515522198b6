import numpy as np
import tensorflow as tf


class Agent:
    def __init__(self, state_size, action_size):
        self.action_size = action_size
        self.epsilon = 1.0
        self.model = self._build(state_size)

    def _build(self, state_size):
        model = tf.keras.Sequential(
            [
                tf.keras.Input([state_size]),
                tf.keras.layers.Dense(24, activation="relu"),
                tf.keras.layers.Dense(self.action_size),
            ]
        )
        model.compile(loss="mse", optimizer="adam")
        return model

    def act(self, state):
        if np.random.rand() < self.epsilon:
            return np.random.randint(self.action_size)
        values = self.model.predict(state, verbose=0)  # want TFM303
        return int(np.argmax(values[0]))
