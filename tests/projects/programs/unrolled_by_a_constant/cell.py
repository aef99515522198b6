import tensorflow as tf

from constants import TIME_STEPS, UNITS

cell = tf.keras.layers.GRUCell(UNITS)


@tf.function
def roll(x):
    state = tf.zeros([8, UNITS])
    for _ in range(TIME_STEPS):  # want TFM108
        _, state = cell(x, state)
    return state


print(roll(tf.zeros([8, 16])).shape)
