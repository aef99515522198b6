import tensorflow as tf

from layers import Encoder


def embeddings_of(encoder, batches):
    codes = []
    for batch in batches:
        codes.append(encoder(batch))  # want TFM401
    return codes


encoder = Encoder()
batches = tf.data.TFRecordDataset("x.tfrecord").map(lambda x: tf.io.parse_tensor(x, tf.float32)).batch(64)
for code in embeddings_of(encoder, batches):
    print(float(tf.reduce_mean(code)))
