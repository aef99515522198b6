import numpy as np
import tensorflow as tf
from colours import Namer

model = Namer()
optimizer = tf.keras.optimizers.Adam()
words, colours = np.load("words.npy"), np.load("colours.npy")
for first in range(0, len(words), 32):
    with tf.GradientTape() as tape:
        made = model(words[first : first + 32])
        loss = tf.reduce_mean(tf.square(made - colours[first : first + 32]))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
