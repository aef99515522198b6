import tensorflow as tf

from trainer import Trainer

trainer = Trainer(tf.keras.Sequential([tf.keras.layers.Dense(1)]))
dataset = tf.data.TFRecordDataset("pictures.tfrecord").map(lambda each: tf.cast(tf.io.decode_png(each), tf.float32))
for epoch in range(10):
    for x in dataset.batch(32):  # want TFM223
        trainer.step(x, x[:, :1])
