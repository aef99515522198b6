import tensorflow as tf

from helpers import record

actor = tf.keras.Sequential([tf.keras.layers.Dense(2)])
critic = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
for step in range(100):
    x = tf.random.normal([16, 4])
    with record() as tape:
        actor_loss = tf.reduce_mean(actor(x))
        critic_loss = tf.reduce_mean(critic(x))
    print(tape.gradient(actor_loss, actor.trainable_variables))
    print(tape.gradient(critic_loss, critic.trainable_variables))
    del tape
