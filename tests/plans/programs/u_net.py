"""A small U-Net in the functional API, given pictures by a pipeline."""

import keras
import tensorflow as tf


def example(number):
    picture = tf.random.stateless_uniform([128, 128, 3], seed=[number, 0])
    return picture, tf.cast(picture[..., :1] > 0.5, tf.float32)


def block(x, filters):
    x = keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
    return keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)


inputs = keras.Input((128, 128, 3))
first = block(inputs, 16)
second = block(keras.layers.MaxPooling2D()(first), 32)
up = keras.layers.UpSampling2D()(second)
outputs = keras.layers.Conv2D(1, 1, activation="sigmoid")(
    block(keras.layers.Concatenate()([up, first]), 16)
)
model = keras.Model(inputs, outputs)
model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy")
pictures = tf.data.Dataset.range(128).map(example).batch(16).prefetch(2)
model.fit(pictures, verbose=0)
