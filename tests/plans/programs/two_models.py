"""A generator and a critic, each with an optimiser of its own."""

import tensorflow as tf

BATCH, NOISE, SIZE = 128, 64, 32
generator = tf.keras.Sequential(
    [
        tf.keras.Input((NOISE,)),
        tf.keras.layers.Dense(8 * 8 * 64, activation="relu"),
        tf.keras.layers.Reshape((8, 8, 64)),
        tf.keras.layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Conv2DTranspose(3, 4, strides=2, padding="same", activation="tanh"),
    ]
)
critic = tf.keras.Sequential(
    [
        tf.keras.Input((SIZE, SIZE, 3)),
        tf.keras.layers.Conv2D(32, 4, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Conv2D(64, 4, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1),
    ]
)
generator_optimizer = tf.keras.optimizers.Adam(1e-4)
critic_optimizer = tf.keras.optimizers.Adam(1e-4)
loss_fn = tf.keras.losses.BinaryCrossentropy(from_logits=True)


@tf.function
def train(pictures):
    noise = tf.random.normal([BATCH, NOISE])
    with tf.GradientTape() as first, tf.GradientTape() as second:
        made = generator(noise, training=True)
        real, false = critic(pictures, training=True), critic(made, training=True)
        wrong = loss_fn(tf.ones_like(real), real) + loss_fn(tf.zeros_like(false), false)
        seen = loss_fn(tf.ones_like(false), false)
    gradients = first.gradient(seen, generator.trainable_variables)
    generator_optimizer.apply_gradients(zip(gradients, generator.trainable_variables))
    gradients = second.gradient(wrong, critic.trainable_variables)
    critic_optimizer.apply_gradients(zip(gradients, critic.trainable_variables))


for number in range(3):
    train(tf.random.stateless_uniform([BATCH, SIZE, SIZE, 3], seed=[number, 0]))
