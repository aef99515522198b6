import tensorflow as tf


def record():
    return tf.GradientTape(persistent=True)  # want TFM402
