"""What was alive at the peak, from allocations made up for the occasion."""

from __future__ import annotations

from collections.abc import Sequence

from tfmemlint.measure.allocations import Allocation, Event, Ledger, Origin, Peak, thinned
from tfmemlint.measure.watching import ENTERED, LEFT, Moment


def got(when: int, address: int, size: int) -> Event:
    return Event(when, address, Allocation(size, size, when, "", "", 0, ""))


def gone(when: int, address: int) -> Event:
    return Event(when, address, None)


def made(address: int, size: int, when: int = 0) -> Allocation:
    return Allocation(size, size, when, "", "", 0, "", None, address)


def begins(when: int, address: int, size: int, in_use: int) -> Event:
    """As an allocator tells it, with what it has given away by then."""
    return Event(when, address, made(address, size, when), in_use)


def ends(when: int, address: int, size: int, in_use: int) -> Event:
    return Event(when, address, None, in_use, made(address, size))


def ledger() -> Ledger:
    """One that holds every allocation against the statement that was running."""
    return Ledger(lambda allocation, running: Origin(running, running))


def held(peak: Peak) -> list[tuple[int, int]]:
    """By statement."""
    return [(each.origin.holder if each.origin else -1, each.bytes) for each in peak.alive]


def test_the_peak_is_the_moment_at_which_most_was_alive() -> None:
    book = ledger()
    book.add(
        [got(1, 100, 5), got(2, 200, 7), gone(3, 100), got(4, 300, 4), gone(5, 200)],
        [Moment(0, 1), Moment(2, 2), Moment(4, 3)],
    )
    assert (book.peak.bytes, book.peak.nanoseconds, book.peak.stack) == (12, 2, (2,))
    assert held(book.peak) == [(1, 5), (2, 7)]


def test_an_address_that_is_given_away_again_is_counted_once() -> None:
    book = ledger()
    book.add([got(1, 100, 5), got(2, 100, 6), gone(3, 100), got(4, 200, 5)], [])
    assert book.peak.bytes == 6


def test_the_end_of_what_was_never_seen_to_begin_changes_nothing() -> None:
    book = ledger()
    book.add([gone(1, 900), got(2, 100, 5)], [])
    assert book.peak.bytes == 5


def test_what_one_stretch_leaves_is_alive_in_the_next_and_keeps_its_statement() -> None:
    book = ledger()
    book.add([got(1, 100, 5)], [Moment(0, 1)])
    book.add([got(11, 200, 6), gone(12, 100), gone(13, 200)], [Moment(10, 2)])
    assert held(book.peak) == [(1, 5), (2, 6)]
    assert book.peak.stack == (2,)


def test_what_ended_between_two_stretches_is_not_taken_for_alive() -> None:
    book = ledger()
    book.add([begins(1, 100, 50, 50), begins(2, 200, 30, 80)], [Moment(0, 1)])
    book.add([begins(11, 900, 60, 90)], [Moment(10, 2)])  # only 30 had been in use before
    assert held(book.peak) == [(1, 30), (2, 60)]


def test_what_is_given_away_again_had_ended_and_what_ends_had_not() -> None:
    book = ledger()
    stretch = [begins(1, 100, 50, 50), begins(2, 200, 50, 100), begins(3, 300, 50, 150)]
    book.add(stretch, [Moment(0, 1)])
    # The second one is built over; the first is seen to end: so both others were alive.
    book.add(
        [begins(11, 190, 40, 140), ends(12, 100, 50, 90), begins(13, 900, 100, 190)],
        [Moment(10, 2)],
    )
    assert sorted(each.address for each in book.peak.alive) == [190, 300, 900]
    assert (book.peak.bytes, book.peak.in_use) == (190, 190)


def test_what_began_between_two_stretches_is_counted_once_it_is_seen_to_end() -> None:
    book = ledger()
    book.add([begins(1, 100, 50, 50)], [Moment(0, 1)])
    book.add([begins(11, 200, 10, 130), ends(12, 700, 70, 60)], [Moment(10, 2)])
    assert sorted(held(book.peak)) == [(1, 50), (2, 10), (2, 70)]
    assert book.peak.bytes == book.peak.in_use == 130


def test_what_was_in_use_before_the_first_stretch_is_neither_missed_nor_made_up() -> None:
    book = ledger()
    book.add([begins(1, 100, 50, 1050)], [])
    book.add([begins(11, 200, 60, 1110), ends(12, 900, 1000, 110)], [])
    assert book.peak.bytes == 110


def test_a_lower_stretch_does_not_move_the_peak() -> None:
    book = ledger()
    book.add([got(1, 100, 5), gone(2, 100)], [Moment(0, 1)])
    first = book.peak
    book.add([got(11, 100, 4), gone(12, 100)], [Moment(10, 2)])
    assert book.peak == first


def test_after_a_function_has_ended_its_caller_is_running() -> None:
    timeline = [Moment(0, 1), Moment(1, ENTERED), Moment(2, 7), Moment(5, LEFT), Moment(9, 2)]
    inside, behind = ledger(), ledger()
    inside.add([got(3, 100, 5)], timeline)
    behind.add([got(6, 100, 5)], timeline)
    assert inside.peak.stack == (1, 7)
    assert behind.peak.stack == (1,)
    assert held(behind.peak) == [(1, 5)]


def test_what_was_held_when_a_program_died_is_told_apart_from_the_peak() -> None:
    book = ledger()
    events = [got(1, 100, 50), gone(2, 100), got(3, 200, 7), got(5, 300, 3), gone(6, 300)]
    book.add(events, [Moment(0, 1), Moment(3, 2), Moment(5, 3)], since=5)
    assert book.peak.bytes == 50
    assert book.last is not None
    assert held(book.last) == [(2, 7), (3, 3)]


def test_what_was_held_when_a_program_died_is_known_though_nothing_moved_any_more() -> None:
    book = ledger()
    book.add([got(1, 100, 50), gone(2, 100), got(3, 200, 7)], [Moment(0, 1)])
    book.add([], [], since=0)
    assert book.last is not None
    assert held(book.last) == [(1, 7)]


def test_a_thinned_curve_keeps_its_ends_and_its_highest_points() -> None:
    curve = [(moment, moment % 97) for moment in range(10_000)]
    thin = thinned(curve, 100)
    assert len(thin) <= 200
    assert (thin[0][0], thin[-1]) == (_first_highest(curve, 100), curve[-1])
    assert max(held for _, held in thin) == 96
    assert thin == sorted(thin)


def test_a_short_curve_is_left_alone() -> None:
    curve = [(1, 5), (2, 6), (900, 1)]
    assert thinned(curve) == curve


def _first_highest(curve: Sequence[tuple[int, int]], slots: int) -> int:
    width = len(curve) // slots
    return max(curve[:width], key=lambda point: point[1])[0]
