import tensorflow as tf

from embeddings import VECTORS


@tf.function
def embed(ids):
    return tf.gather(VECTORS, ids)  # want TFM105


print(embed(tf.constant([1, 2, 3])))
