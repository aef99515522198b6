import tensorflow.compat.v1 as tf
from pictures import *

tf.disable_eager_execution()
given = tf.placeholder(tf.float32, [None, 32, 32, 3])
scores = tf.layers.dense(tf.layers.flatten(given), 2)


def classify(session, batches):
    for pictures in batches:
        batch = stacked(pictures)  # want TFM701
        print(session.run(scores, {given: batch.eval()}))


def read(path):
    for line in open(path):
        yield [[[[float(each)] * 3] * 64] * 64 for each in line.split()]


with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    classify(session, read("pictures.txt"))
