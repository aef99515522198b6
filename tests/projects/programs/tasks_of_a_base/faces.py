import numpy as np
import tensorflow as tf

from metric import MetricLearner


def joined(examples):
    shape = examples.shape
    return tf.reshape(examples, (shape[0] * shape[1], *shape[2:]))


class Faces(MetricLearner):
    def evaluate(self, count=600):
        self.tasks = self.test_tasks(count)
        spreads = []
        for task in self.tasks:
            codes = self.model.predict(joined(task))  # want TFM303
            spreads.append(np.std(codes))
        return np.mean(spreads)

    def show(self, count=8):
        for task in self.test_tasks(count):
            print(np.std(self.model.predict(joined(task))))


print(Faces("faces.tfrecord").evaluate())
