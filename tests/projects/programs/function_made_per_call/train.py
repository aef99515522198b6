import tensorflow as tf

from graphs import make_step

model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.SGD()
for epoch in range(50):
    for _ in range(100):
        step = make_step(model, optimizer)  # want TFM102
        x = tf.random.normal([32, 4])
        step(x, x[:, :1])
