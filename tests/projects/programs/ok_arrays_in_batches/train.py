import tensorflow as tf

import data

x = data.load("/data")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam()
for start in range(0, len(x), 64):
    batch = tf.constant(x[start : start + 64])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(batch))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
