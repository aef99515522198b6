import tensorflow as tf

from data import make_dataset

train_ds = make_dataset("images/*.jpg", 32)
train_ds = train_ds.shuffle(1000).prefetch(tf.data.AUTOTUNE)  # want TFM202

model = tf.keras.applications.MobileNetV2(weights=None, classes=10)
model.compile("adam", "categorical_crossentropy")
model.fit(train_ds, epochs=10)
