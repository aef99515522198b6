import tensorflow as tf

from data import Splits

splits = Splits("mnist.npz")
model = tf.keras.Sequential([tf.keras.Input([28, 28, 1]), tf.keras.layers.Conv2D(32, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10)])
loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
for epoch in range(10):
    with tf.GradientTape() as tape:
        loss = loss_of(splits.y, model(splits.x))  # want TFM306
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
