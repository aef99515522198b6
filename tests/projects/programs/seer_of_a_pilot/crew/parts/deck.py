class Deck:
    def __init__(self):
        self.seer = None
