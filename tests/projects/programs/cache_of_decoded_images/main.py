import tensorflow as tf

import pipeline

dataset = pipeline.decoded("train/*.jpg").cache()  # want TFM204
for images in dataset.batch(32).prefetch(2):
    print(images.shape)
