import tensorflow as tf

_made = {}


def network(width):
    if width not in _made:
        model = tf.keras.Sequential([tf.keras.layers.Dense(width), tf.keras.layers.Dense(1)])
        model.compile("adam", "mse")
        _made[width] = model
    return _made[width]
