class BaseTrainer:
    def __init__(self):
        self.model = self.build()

    def evaluate(self, rows):
        return self.model.predict(rows, batch_size=64, verbose=0)
