"""One memo for all questions about values, which ask each other: the least fixpoint, on demand."""

from __future__ import annotations

from itertools import islice

from tfmemlint.facts import TensorFlow
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from typing import Any, TypeVar

    Answer = Callable[..., Any]
    Answered = TypeVar("Answered")

_DEEPEST = 40
"""Questions that may wait for each other before the last of them is answered by itself."""
_MOST_ROUNDS = 10
"""How often an answer that depends on itself may change; after that it is given up."""
_MOST_PENDING = 400
_NOT_YET = object()


class Question(NamedTuple):
    """A kind of question, and its answers where nothing else is to be had."""

    name: str
    nothing: Hashable
    """What is known of an answer that depends on itself, to begin with."""
    unknown: Hashable
    """The answer where none can be found."""


class _Asked(NamedTuple):
    question: Question
    answer: Answer
    about: tuple[Hashable, ...]
    key: tuple[Hashable, ...]


class Solver:
    """Asks questions, remembers the answers, and finds those that depend on themselves.

    What is asked while it is being answered is answered with what is known of it so far, and looked
    at again until that is all there is to know. So an answer is the same whoever asks, and when.
    """

    def __init__(self, _: TensorFlow | None = None) -> None:
        self._known: dict[Any, Any] = {}
        self._waiting: dict[Any, int] = {}
        self._so_far: dict[Any, Any] = {}
        """The answers found so far of questions that depend on one that is waiting."""
        self._lately: dict[Any, Any] = {}
        """Those of them that have been found in this round of it."""
        self._lowest = _DEEPEST
        """The first waiting question on which what is being answered depends."""
        self._changed = False

    def forget(self) -> None:
        """Let go of all answers: what they were found with is known better now."""
        self._known.clear()
        self._lately.clear()

    def apart(self, asking: Callable[[], Answered]) -> Answered:
        """Ask as if nobody waited: what is asked is no part of what is being answered."""
        outer = self._waiting, self._so_far, self._lately, self._lowest, self._changed
        self._waiting, self._so_far, self._lately = {}, {}, {}
        self._lowest, self._changed = _DEEPEST, False
        try:
            return asking()
        finally:
            self._waiting, self._so_far, self._lately, self._lowest, self._changed = outer

    def ask(self, question: Question, answer: Answer, *about: Hashable) -> Any:
        """The answer to a question about something; `answer` finds it, asking others for it.

        Whoever asks says how to answer: to keep that here would make circles of objects.
        """
        key = (question.name, *about)
        known = self._known.get(key, _NOT_YET)
        if known is not _NOT_YET:
            return known
        waiting, lately = self._waiting, self._lately
        if not waiting:
            return self._answered(_Asked(question, answer, about, key))
        place = waiting.get(key)
        if place is not None:
            self._lowest = min(self._lowest, place)
            return self._so_far.get(key, question.nothing)
        if lately and key in lately:
            found, lowest = lately[key]
            self._lowest = min(self._lowest, lowest)
            return found
        if len(waiting) >= _DEEPEST:
            raise _TooDeepError(_Asked(question, answer, about, key))
        return self._solve(question, answer, about, key)

    def _answered(self, first: _Asked) -> Any:
        """Answer a question that nobody waits for, those far below it before."""
        pending = [first]
        while pending:
            asked = pending[-1]
            try:
                if asked.key not in self._known:
                    self._known[asked.key] = self._solve(*asked)
                pending.pop()
            except _TooDeepError as error:
                deep = error.asked
                if any(deep.key == each.key for each in pending) or len(pending) == _MOST_PENDING:
                    self._known[deep.key] = deep.question.unknown
                else:
                    pending.append(deep)
            finally:
                if self._so_far or self._lately:
                    self._so_far.clear()
                    self._lately.clear()
        return self._known[first.key]

    def _solve(
        self,
        question: Question,
        transfer: Answer,
        about: tuple[Hashable, ...],
        key: tuple[Hashable, ...],
    ) -> Any:
        waiting, lately = self._waiting, self._lately
        place, outer_lowest, outer_changed = len(waiting), self._lowest, self._changed
        waiting[key] = place
        begun, rounds = len(lately), 0
        try:
            while True:
                self._lowest, self._changed = _DEEPEST, False
                answer = transfer(*about)
                if self._lowest > place:
                    break  # it depends on nothing that waits, itself included
                rounds += 1
                if rounds > _MOST_ROUNDS:
                    answer = question.unknown
                if self._so_far.get(key, question.nothing) != answer:
                    self._so_far[key], self._changed = answer, True
                if self._lowest < place or not self._changed or rounds > _MOST_ROUNDS:
                    break
                for each in [*islice(lately, begun, None)]:
                    del lately[each]
            lowest = self._lowest
        finally:
            del waiting[key]
            changed, self._lowest, self._changed = self._changed, outer_lowest, outer_changed
        if lowest < place:  # what waits further out decides
            lately[key] = answer, lowest
            self._lowest, self._changed = min(outer_lowest, lowest), outer_changed or changed
            return answer
        if rounds:  # so did others that were answered in the meantime
            for each in [*islice(lately, begun, None)]:
                self._known[each] = lately.pop(each)[0]
                self._so_far.pop(each, None)
        if self._so_far:
            self._so_far.pop(key, None)
        self._known[key] = answer
        return answer


class _TooDeepError(Exception):
    """A question has to be answered by itself, before those that wait for it."""

    def __init__(self, asked: _Asked) -> None:
        super().__init__()
        self.asked = asked
