import tensorflow as tf

from settings import STEPS, UNROLL


def network():
    return tf.keras.Sequential(
        [
            tf.keras.Input([STEPS, 32]),
            tf.keras.layers.LSTM(64, unroll=UNROLL),  # want TFM109
            tf.keras.layers.Dense(1),
        ]
    )
