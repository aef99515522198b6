"""A model of one's own, trained in a loop with a tape and SGD with momentum."""

import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = tf.keras.layers.Dense(4096, activation="relu")
        self.second = tf.keras.layers.Dense(1024, activation="relu")
        self.last = tf.keras.layers.Dense(10)

    def call(self, inputs):
        x = self.first(inputs)
        x = self.second(x)
        return self.last(x)


net = Net()
optimizer = tf.keras.optimizers.SGD(0.01, momentum=0.9)
loss_fn = tf.keras.losses.MeanSquaredError()


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, net(x, training=True))
    gradients = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(gradients, net.trainable_variables))
    return loss


x = tf.random.stateless_normal([512, 1024], seed=[0, 0])
y = tf.random.stateless_normal([512, 10], seed=[0, 1])
for _ in range(3):
    step(x, y)
