import gym
from playing import Playing
from values import Values

for name in ("CartPole-v1", "CartPole-v0"):
    Playing(gym.make(name), Values(2)).play(100_000)
