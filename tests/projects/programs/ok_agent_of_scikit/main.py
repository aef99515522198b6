import numpy as np
import tensorflow as tf

from agent import Agent

agent = Agent()
summary = tf.summary.create_file_writer("logs")
for step in range(1000):
    action = agent.act(np.zeros([1, 4]))
    with summary.as_default():
        tf.summary.scalar("action", float(action[0]), step=step)
