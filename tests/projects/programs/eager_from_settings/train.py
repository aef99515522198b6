import tensorflow as tf

import settings

tf.config.run_functions_eagerly(settings.RUN_EAGERLY)  # want TFM111

model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
model.compile("adam", "mse")
x = tf.random.normal([256, 8])
model.fit(x, x[:, :1], epochs=10)
