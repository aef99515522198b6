import gym

from lib import answer, build

env = gym.make("CartPole-v1")
print(answer(build(24), env.reset()))
