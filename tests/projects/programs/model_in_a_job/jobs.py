import dataclasses

import tensorflow as tf


@dataclasses.dataclass
class Job:
    name: str
    model: tf.keras.Model


def make_jobs():
    return [Job("small", tf.keras.Sequential([tf.keras.Input([4]), tf.keras.layers.Dense(2)]))]
