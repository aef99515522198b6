from common import *

BUFFER_SIZE = 5000


def load(name, caption):
    return np.load(os.path.join("features", name.decode() + ".npy")), caption


def pipeline(names, captions):
    pairs = tf.data.Dataset.from_tensor_slices((names, captions))
    pairs = pairs.map(lambda name, text: tf.numpy_function(load, [name, text], [tf.float32, tf.int32]))
    return pairs.shuffle(BUFFER_SIZE).batch(64).prefetch(1)  # want TFM201


def step(model, x):
    with tf.GradientTape(persistent=True) as tape:  # want TFM402
        loss = tf.reduce_sum(model(x))
    return tape.gradient(loss, model.trainable_variables)
