"""Games, one after the other."""

from agent import Agent
from world import World

agent = Agent()
for _ in range(1_000):
    World(agent).run()
