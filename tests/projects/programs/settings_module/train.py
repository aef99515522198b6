import config
import tensorflow as tf


def parse(record):
    example = tf.io.parse_single_example(record, {"image": tf.io.FixedLenFeature([], tf.string)})
    return tf.image.resize(tf.io.decode_png(example["image"]), (128, 128))


dataset = (
    tf.data.TFRecordDataset("train.tfrecord")
    .map(parse)
    .batch(config.BATCH_SIZE)
    .prefetch(config.BATCH_SIZE)  # want TFM207
)

model = tf.keras.models.load_model("model.keras")
for epoch in range(config.EPOCHS):
    for images in dataset:
        model.train_on_batch(images, images)
