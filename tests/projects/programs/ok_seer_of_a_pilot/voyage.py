"""Asked once; what is asked each day is no network."""

from crew.parts.pilots import Careful, Pilot


class Compass:
    def course(self, sky):
        return sky.round()


class Voyage:
    def __init__(self, sea, careful):
        self.sea = sea
        self.compass = None
        self.pilot = Careful(32) if careful else Pilot(32)

    def equip(self):
        self.compass = Compass()

    def run(self, days):
        sky = self.sea.begin()
        print(self.pilot.seer.course(sky))
        for _ in range(days):
            sky = self.sea.sail(self.compass.course(sky))
