"""What is made without `typing` is what `typing` makes."""

from __future__ import annotations

import copy
import pickle
import typing

import pytest

from tfmemlint import light_typing


class Ours(light_typing.NamedTuple):
    """A place."""

    row: int
    name: str = "a"
    rest: tuple[Nowhere, ...] = ()  # type: ignore[name-defined]  # noqa: F821
    """More of it."""

    def longer(self) -> Ours:
        """One row more."""
        return self._replace(row=self.row + 1)

    @property
    def first(self) -> str:
        """The name's first character."""
        return self.name[:1]


class Theirs(typing.NamedTuple):
    """A place."""

    row: int
    name: str = "a"
    rest: tuple[int, ...] = ()


def test_a_named_tuple_is_made_as_typing_makes_it() -> None:
    assert (Ours.__name__, Ours.__qualname__, Ours.__module__) == ("Ours", "Ours", __name__)
    assert (Ours.__doc__, Ours.__bases__) == (Theirs.__doc__, Theirs.__bases__)
    for name in ("_fields", "_field_defaults", "__match_args__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name)
    assert [*Ours.__annotations__] == [*Theirs.__annotations__]
    assert repr(Ours(3, rest=())) == repr(Theirs(3, rest=())).replace("Theirs", "Ours")
    assert tuple(Ours(1, "b")) == tuple(Theirs(1, "b")) == (1, "b", ())
    assert Ours(1)._asdict() == Theirs(1)._asdict()


def test_a_named_tuple_has_methods_and_never_changes() -> None:
    one = Ours(1, "bc")

    assert (one.longer(), one.first) == (Ours(2, "bc"), "b")
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
    assert type(pickle.loads(pickle.dumps(one))) is Ours
    for name in ("row", "other"):
        with pytest.raises(AttributeError):
            setattr(one, name, 2)
    with pytest.raises(TypeError):
        Ours()  # type: ignore[call-arg]


def test_a_cast_gives_what_it_is_given() -> None:
    assert light_typing.cast("list[str]", one := [1]) is one  # type: ignore[comparison-overlap]
