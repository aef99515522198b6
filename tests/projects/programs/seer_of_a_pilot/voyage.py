"""Nobody here knows that there is a network."""

from crew.parts.pilots import Careful, Pilot


class Voyage:
    def __init__(self, sea, careful):
        self.sea = sea
        if careful:
            self.pilot = Careful(32)
        else:
            self.pilot = Pilot(32)

    def run(self, days):
        sky = self.sea.begin()
        for _ in range(days):
            sky = self.sea.sail(self.pilot.seer.course(sky))
