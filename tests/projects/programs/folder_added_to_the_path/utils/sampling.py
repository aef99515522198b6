import numpy as np


def fake_batch(generator, size):
    noise = np.random.normal(size=(size, 100))
    return generator.predict(noise)  # want TFM303
