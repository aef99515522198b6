import tensorflow as tf

from trainer import Trainer

trainer = Trainer(tf.keras.Sequential([tf.keras.layers.Dense(1)]))
for _ in range(10000):
    trainer.step(tf.random.normal([32, 4]))
print(sum(trainer.losses))
