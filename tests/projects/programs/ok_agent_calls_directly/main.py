import gymnasium as gym
import tensorflow as tf

from agent import Agent

env = gym.make("CartPole-v1")
agent = Agent(4, 2)
for episode in range(100):
    state, _ = env.reset()
    done = False
    while not done:
        values = agent.values(tf.constant(state[None], tf.float32))
        state, _, done, _, _ = env.step(int(tf.argmax(values[0])))
