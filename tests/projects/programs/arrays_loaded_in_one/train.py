import tensorflow as tf

import data

x_train, y_train = data.load_data("/data")
dataset = tf.data.Dataset.from_tensor_slices((x_train, y_train))  # want TFM211
dataset = dataset.shuffle(1024).batch(64).prefetch(1)

model = tf.keras.models.load_model("model.keras")
model.fit(dataset, epochs=3)
