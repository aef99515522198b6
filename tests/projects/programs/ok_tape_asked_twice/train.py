import tensorflow as tf

from helpers import record

actor = tf.keras.Sequential([tf.keras.layers.Dense(4)])
critic = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
for step in range(100):
    x = tf.random.normal([16, 4])
    with record() as tape:
        value = tf.reduce_mean(critic(x))
        loss = tf.reduce_mean(actor(x)) * value
    of_actor = tape.gradient(loss, actor.trainable_variables)
    of_critic = tape.gradient(value, critic.trainable_variables)
    variables = actor.trainable_variables + critic.trainable_variables
    optimizer.apply_gradients(zip(of_actor + of_critic, variables))
