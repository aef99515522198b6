import tensorflow as tf


def record():
    return tf.GradientTape(persistent=True)
