import tensorflow as tf

from input import batches

model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
everything = list(batches("train.tfrecord"))  # want TFM214
for epoch in range(5):
    for images in everything:
        model.train_on_batch(images, tf.zeros([len(images), 1]))
