from crew.parts.deck import Deck
from crew.parts.seers import Seer


class Pilot(Deck):
    def __init__(self, width):
        super().__init__()
        self.seer = Seer(width)


class Careful(Deck):
    def __init__(self, width):
        super().__init__()
        self.seer = Seer(2 * width)
