import gymnasium as gym
import numpy as np

from agent import Agent

EPISODES = 500

env = gym.make("CartPole-v1")
agent = Agent(4, env.action_space.n)
for episode in range(EPISODES):
    state, _ = env.reset()
    state = np.reshape(state, [1, 4])
    for step in range(500):
        action = agent.act(state)
        state, reward, done, truncated, _ = env.step(action)
        state = np.reshape(state, [1, 4])
        if done or truncated:
            break
