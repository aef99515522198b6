import numpy as np
import tensorflow as tf

from base import BaseTrainer


class Regression(BaseTrainer):
    def build(self):
        return tf.keras.Sequential([tf.keras.Input([8]), tf.keras.layers.Dense(1)])


rows = np.load("rows.npy")
print(np.mean(Regression().evaluate(rows)))
