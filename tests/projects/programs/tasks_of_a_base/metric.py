from learners import Learner
from loaders import TaskLoader


class MetricLearner(Learner):
    def __init__(self, files, ways=5):
        super().__init__(files, loader_class=TaskLoader, ways=ways)
