import tensorflow as tf


def make_step(model):
    @tf.function
    def step(x):
        return model(x)

    return step
