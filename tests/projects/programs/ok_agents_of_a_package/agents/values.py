from tensorflow import keras


class Discrete(keras.Model):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def call(self, inputs):
        return self.network(inputs)

    def act(self, states):
        return self.predict(states).argmax(axis=1)


class Guessing:
    def act(self, states):
        return states[:, 0]


class Continuous(Discrete):
    def act(self, states):
        return self.predict(states[:1])
