import tensorflow as tf

from dataset import training_data

dataset = training_data()
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
for step in range(1000):
    batch = next(iter(dataset))  # want TFM216
    model.train_on_batch(batch, batch[:, :1])
