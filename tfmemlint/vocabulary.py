"""The nouns of tfmemlint: frozen data, no logic, nothing imported from the rest of the project."""

from __future__ import annotations

import sys
from enum import Enum

from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tfmemlint.source import File


class Applicability(Enum):
    """What a fix promises about *results*; what it does to memory is the rule's claim."""

    SAFE = "safe"
    """The same values in the same order, and nothing less."""
    UNSAFE = "unsafe"
    """Results may differ: applied only when the user asks for unsafe fixes."""
    DISPLAY = "display"
    """Shown as a suggestion, never applied."""


class Metric(Enum):
    """What `verify` weighs when it tries a claim."""

    DEVICE_PEAK = "device peak"
    HOST_PEAK = "host peak"
    DEVICE_GROWTH = "device growth"
    HOST_GROWTH = "host growth"
    TRACES = "traces"
    GRAPH_BYTES = "graph bytes"
    STEP_TIME = "step time"


class Span(NamedTuple):
    """Half-open character offsets into a file's text; lines and columns exist only in reports."""

    start: int
    end: int


ELSEWHERE = Span(-1, -1)
"""No place of this file: the place of what stands in another one."""


class Edit(NamedTuple):
    """Replace the characters of `span` with `text`."""

    span: Span
    text: str


class Fix(NamedTuple):
    """Edits that together resolve one finding: applied whole or not at all."""

    title: str
    """What the fix does, as an imperative: "Shuffle before batching"."""
    edits: tuple[Edit, ...]
    applicability: Applicability


class Law(Enum):
    """How what is held grows."""

    CONSTANT = "constant"
    """It does not: a buffer of so many, a batch."""
    DATA = "with the data"
    STEPS = "with steps"
    """Each step, epoch or call leaves as much behind."""
    SQUARE = "with the square of steps"


class Cost(NamedTuple):
    """The finding's own arithmetic: what is held, in the user's names."""

    formula: str
    """A product in backticked names, numbers and units; empty where nothing is known."""
    bytes: int | None = None
    """What that comes to, where it is known."""
    law: Law = Law.CONSTANT
    fixed: str = ""
    """What is held once it is mended, as a formula."""
    fixed_bytes: int | None = None
    at_most: int | None = None
    """What is surely not exceeded: the engine hides what that shows to be small."""
    notes: tuple[str, ...] = ()
    """Where the numbers come from that the formula does not have, "here; grows with `x`"."""
    worth: int = 0
    """What has to be held for a remedy to be worth it that has its price, as the page says: less
    is hidden, too, as long as nobody sets `min-bytes`."""


class Diagnostic(NamedTuple):
    """What a rule says about one place. Code and path are the engine's to add."""

    span: Span
    message: str
    fix: Fix | None = None
    cost: Cost | None = None


class Claim(NamedTuple):
    """A promise two programs can break: measured(fixed) / measured(bad) <= at_most."""

    metric: Metric
    at_most: float
    because: str
    grows: tuple[str, str] | None = None
    """How the two programs grow with their data, bad first, where that is promised, too: as in
    `("linear", "constant")`."""
    of_host: bool = False
    """Whether it is about memory that is the host's wherever the program computes, as with what
    tf.data makes: then it is weighed there."""


class Rule(NamedTuple):
    """A code, a name, a claim, and a function from a file to diagnostics."""

    code: str
    name: str
    claim: Claim
    triggers: tuple[str, ...]
    """Words the file, or what it imports, must hold for the rule to have anything to say.

    Each entry lists alternatives, separated by spaces; every entry must be met by one of them.
    Over-approximate: an entry may let through what is clean, never keep out what is not.
    Comments and strings in three quotes do not count, so a word need not be rare in prose; the
    tests hold that no finding in any fixture is kept out. Each entry that is seldom met saves time
    in most files: `("shuffle", "map")` lets through a third of what `("map",)` does.
    `PIPELINE_WORDS` is an entry for rules about tf.data, `"for while"` one for rules about loops.
    """
    check: Callable[[File], Iterable[Diagnostic]]

    @property
    def page(self) -> str:
        """The rule's documentation: the docstring of the module that defines it."""
        return sys.modules[self.check.__module__].__doc__ or ""


class Finding(NamedTuple):
    """A diagnostic with the code and name of what made it: a rule or the engine (TFM0xx)."""

    code: str
    name: str
    diagnostic: Diagnostic


class Cell(NamedTuple):
    """Where a notebook's code cell begins in the text its code cells were joined into."""

    start: int
    """The character offset of the cell's first line in the joined text."""
    number: int
    """The cell's place among all cells of the notebook, counted from 1."""


class Checked(NamedTuple):
    """What is known of one file after a run: light enough to pass between processes and to keep."""

    path: str
    text: str
    """What spans count in; empty where the file could not be read."""
    findings: tuple[Finding, ...] = ()
    cells: tuple[Cell, ...] = ()
    """The cells of a notebook; none for a Python file."""
    written: tuple[tuple[int, str], ...] = ()
    """The rows of `text` that stand for others in the notebook, each with what is there."""
