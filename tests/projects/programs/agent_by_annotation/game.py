from dataclasses import dataclass

from agents import Agent


@dataclass
class Table:
    moves: int


class Player:
    def __init__(self, agent: Agent) -> None:
        self.agent = agent

    def play(self, env, games: int) -> list[Table]:
        played = []
        for _ in range(games):
            state, done, moves = env.reset(), False, 0
            while not done:
                state, _, done, _ = env.step(self.agent.act(state))
                moves += 1
            played.append(Table(moves))
        return played
