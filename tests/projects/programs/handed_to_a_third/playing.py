class Playing:
    """Knows nothing of networks."""

    def __init__(self, game, player):
        self.game = game
        self.player = player

    def play(self, steps):
        state = self.game.reset()
        for _ in range(steps):
            state = self.game.step(self.player.best(state))
