import sys

import keras

sys.path.append("../utils")
import sampling

generator = keras.Sequential([keras.layers.Dense(784)])
judge = keras.Sequential([keras.layers.Dense(1)])
judge.compile("adam", "mse")
for step in range(10_000):
    fake = sampling.fake_batch(generator, 32)
    judge.train_on_batch(fake, keras.ops.zeros(32))
