import tensorflow as tf

from input_fn import input_fn

model = tf.keras.models.load_model("model.keras")
for epoch in range(30):
    for records in input_fn(["a.tfrecord", "b.tfrecord"]):  # want TFM217
        x = tf.io.parse_tensor(records[0], tf.float32)
        model.train_on_batch(x, x)
