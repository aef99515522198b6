"""Dice play for hours; an agent is asked once."""

from agents import Agent, Dice


def play(env, player: Dice) -> int:
    state, done = env.reset(), False
    while not done:
        state, _, done, _ = env.step(player.act(state))
    return state


def ask(env, agent: Agent) -> int:
    return agent.act(env.reset())
