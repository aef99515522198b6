import reading
import tensorflow as tf

dataset = reading.images("*.jpg", 10).cache()  # want TFM205
dataset = dataset.map(lambda image: tf.image.resize(tf.io.decode_jpeg(image), (64, 64))).batch(32)
for batch in dataset.prefetch(1):
    print(batch.shape)
