"""The world, which imports nothing of the agent's."""


class World:
    def __init__(self, agent):
        self.agent, self.state, self.over = agent, [0.0] * 11, False

    def run(self):
        while not self.over:
            action = self.agent.memory.best(self.state)
            self.over = self.move(action)
            self.agent.memory.learn()

    def move(self, action):
        self.state[action] += 1
        return self.state[action] > 9
