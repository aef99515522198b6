from tensorflow.keras.datasets import fashion_mnist


def split():
    (x_train, y_train), (x_test, y_test) = fashion_mnist.load_data()
    return x_train.reshape(-1, 784), y_train, x_test.reshape(-1, 784), y_test
