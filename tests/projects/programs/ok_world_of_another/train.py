"""Games of the agent without a network; the other is asked once."""

from agent import Agent, Plain
from world import World

for _ in range(1_000):
    World(Plain()).run()
print(Agent().memory.best([0.0] * 11))
