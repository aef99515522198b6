"""What the functions given to `Dataset.map` make of an element: run on what is known of it."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.pipelines.dry_runs import DryRun
from tfmemlint.facts.pipelines.held import Held, Several, part_of, tensors
from tfmemlint.facts.syntax.tree import FUNCTIONS
from tfmemlint.light_typing import NamedTuple


class Mapped(NamedTuple):
    """What a function makes of an element, and how."""

    element: Held
    is_random: bool
    """Whether it draws random numbers without being given their seeds."""
    is_stateful: bool
    """Whether it runs Python for each element, prints, or reads or changes what may change."""
    is_known: bool
    """Whether everything it does is in sight and understood."""
    is_exact: bool
    """Whether of a batch it makes, bit by bit, the batch of what it makes of the examples."""

    @property
    def is_pure(self) -> bool:
        """Whether it surely makes the same of the same, whenever that is its turn."""
        return self.is_known and not self.is_random and not self.is_stateful


class Mappings:
    """The functions of a module, run on elements of which little is known."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._callers = tf.callers
        self._members = tf.members
        self._values = tf.values
        self._sources = tf.sources

    def of(self, function: ast.expr, element: Held) -> Mapped:
        """What a function makes of an element; a tuple's parts are its arguments."""
        run = DryRun(self._names, self._functions, self._callers, self._values, self._sources)
        named = self._bindings.assigned(function)  # `resize = resize_to(224)`
        function = named if isinstance(named, ast.Call) else function
        if isinstance(element, Several) and 0 in element.keys:
            given = [held for _, held in element.parts]
        else:
            count = 1 if isinstance(element, Several) else self._taken(function)
            given = [part_of(element, each) for each in range(count)] if count > 1 else [element]
        made, effects = run.given(function, given), run.effects
        derived = all(each.times > 0 for each in tensors(made))
        pure = effects.known and not effects.random and not effects.stateful
        exact = effects.exact and pure and derived
        return Mapped(made, effects.random, effects.stateful, effects.known, exact)

    def _taken(self, function: ast.expr) -> int:
        """How many parameters a function has that are left to the element."""
        meant = self._functions.definitions(function)
        found = next((each for each in meant if isinstance(each, FUNCTIONS)), None)
        maker = self._functions.function(function.func) if isinstance(function, ast.Call) else None
        if found is None and maker is not None:
            inner = self._functions.made_by(maker)
            return len(inner[0].args.args) if len(inner) == 1 else 1
        if found is None:
            return 1
        parameters = [*found.args.posonlyargs, *found.args.args]
        is_method = self._members.binds_first(found)
        named = function.keywords if isinstance(function, ast.Call) else []
        return len(parameters) - is_method - len(found.args.defaults) - len(named)
