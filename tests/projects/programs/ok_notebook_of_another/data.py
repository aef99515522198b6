import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds


def portraits(amount, size):
    kept = []
    for number, example in enumerate(tfds.load("celeb_a", split="train")):
        image = tf.image.resize(example["image"], [size, size])
        kept.append(np.array(image) / 127.5 - 1)
        if number >= amount - 1:
            break
    return np.array(kept)
