from tensorflow import keras


class Discrete(keras.Model):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def call(self, inputs):
        return self.network(inputs)

    def act(self, state):
        values = self.predict(state.reshape(1, -1))  # want TFM303
        return values[0].argmax()


class Continuous(Discrete):
    def act(self, state):
        return self.predict(state.reshape(1, -1))[0]  # want TFM303
