import gym
import keras
from agent import Agent
from keras.layers.advanced_activations import LeakyReLU

model = keras.models.Sequential([keras.layers.Dense(64), LeakyReLU(), keras.layers.Dense(2)])
Agent(model).play(gym.make("CartPole-v1"))
