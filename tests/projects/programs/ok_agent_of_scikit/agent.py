from sklearn.linear_model import SGDRegressor


class Agent:
    def __init__(self):
        self.model = SGDRegressor()

    def act(self, state):
        return self.model.predict(state)
