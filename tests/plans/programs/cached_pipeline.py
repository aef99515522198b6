"""Pictures that are cached, shuffled and enlarged before a network sees them."""

import keras
import tensorflow as tf


def picture(number):
    image = tf.random.stateless_uniform([64, 64, 3], seed=[number, 0])
    return image, number % 10


def enlarge(image, label):
    return tf.image.resize(image, [96, 96]), label


data = (
    tf.data.Dataset.range(1000)
    .map(picture)
    .cache()
    .shuffle(1000)
    .map(enlarge, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(50)
    .prefetch(tf.data.AUTOTUNE)
)
model = keras.Sequential(
    [
        keras.Input((96, 96, 3)),
        keras.layers.Conv2D(16, 5, strides=2, activation="relu"),
        keras.layers.GlobalMaxPooling2D(),
        keras.layers.Dense(10),
    ]
)
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(keras.optimizers.SGD(0.1), loss)
model.fit(data, epochs=2, verbose=0)
