import tensorflow as tf


class Agent:
    def __init__(self, size, actions):
        self.model = tf.keras.Sequential([tf.keras.Input([size]), tf.keras.layers.Dense(actions)])

    @tf.function
    def values(self, state):
        return self.model(state)
