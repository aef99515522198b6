from tensorflow import keras


class Callbacks:
    def __init__(self, folder):
        self.callbacks = [self.board(folder)]

    def board(self, folder):
        return keras.callbacks.TensorBoard(log_dir=folder, histogram_freq=1)  # want TFM314
