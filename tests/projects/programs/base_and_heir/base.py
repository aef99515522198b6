import tensorflow as tf


class BaseTrainer:
    def __init__(self):
        self.model = self.build()

    def build(self):
        raise NotImplementedError

    def evaluate(self, rows):
        outputs = []
        for row in rows:
            outputs.append(self.model.predict(row[None], verbose=0))  # want TFM303
        return outputs
