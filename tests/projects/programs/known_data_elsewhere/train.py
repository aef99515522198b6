import tensorflow as tf

from data import split

x_train, y_train, x_test, y_test = split()
model = tf.keras.Sequential([tf.keras.layers.Dense(8192, "relu"), tf.keras.layers.Dense(10)])
model.compile("adam", "mse")
for step in range(200):
    model.train_on_batch(x_train, y_train)  # want TFM306
