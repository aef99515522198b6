"""A model that goes over the letters of a word, as plain Python: nobody has it traced."""

import tensorflow as tf


class Namer(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.cell = tf.keras.layers.LSTMCell(64)
        self.dense = tf.keras.layers.Dense(3)

    def call(self, letters):
        state = self.cell.get_initial_state(batch_size=letters.shape[0])
        outputs = []
        for letter in tf.unstack(letters, axis=1):
            output, state = self.cell(letter, state)
            outputs.append(output)
        return self.dense(tf.reduce_mean(tf.stack(outputs), axis=0))
