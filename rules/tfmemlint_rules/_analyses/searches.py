"""Functions that searches for good settings call again and again, with no loop in sight."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from math import prod

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.arithmetic import as_count
from tfmemlint.facts.syntax.decorators import Decorators
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 4
_MINIMISERS = {
    **dict.fromkeys(
        (f"skopt.{name}_minimize" for name in ("dummy", "forest", "gbrt", "gp")),
        ("func", None, "n_calls"),
    ),
    "hyperopt.fmin": ("fn", 3, "max_evals"),
    "scipy.optimize.differential_evolution": ("func", None, ""),
}
"""By their names, what they call is given as, at first, and how often they do: place and name."""
_WRAPPERS = frozenset(
    f"{package}.{kind}"
    for package in (
        *("keras.wrappers", "keras.wrappers.scikit_learn", "scikeras.wrappers"),
        "tensorflow.keras.wrappers.scikit_learn",
    )
    for kind in ("KerasClassifier", "KerasRegressor")
)
_CROSSES = frozenset(
    f"sklearn.model_selection.{name}"
    for name in ("cross_val_predict", "cross_val_score", "cross_validate")
)
_TRIES = frozenset(
    f"sklearn.model_selection.{name}"
    for name in (
        "GridSearchCV",
        "HalvingGridSearchCV",
        "HalvingRandomSearchCV",
        "RandomizedSearchCV",
    )
)
_SPLITTERS = frozenset(
    f"sklearn.model_selection.{name}" for name in ("GroupKFold", "KFold", "StratifiedKFold")
)
_REPEATS = frozenset(
    f"sklearn.model_selection.{name}" for name in ("RepeatedKFold", "RepeatedStratifiedKFold")
)
_COPIES = frozenset({"sklearn.base.clone"})
_PIPELINES = frozenset({"sklearn.pipeline.Pipeline", "sklearn.pipeline.make_pipeline"})
_TRIED = 10
"""How many settings `RandomizedSearchCV` tries if it is not told."""
_REPETITIONS = 10
_FOLDS = 5
"""Into how many parts scikit-learn splits the data if it is not told otherwise."""


class Search(NamedTuple):
    """A call that has a function run again and again."""

    call: ast.Call
    runs: FunctionNode
    rounds: int | None
    """How often, where that is known."""


class Searches:
    """Such calls of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._flow = tf.flow
        self._values = tf.values
        self._tracing = tf.tracing
        self._decorators = tf.of(Decorators)

    def around(self, node: ast.AST, hops: int = _MAX_HOPS) -> Search | None:
        """The search that runs `node` each time it tries something."""
        function = self._tree.function(node)
        if function is None or self._tree.is_conditional(node) or not self._minimised:
            return None
        if self._tracing.why(node) is not None or not self._decorators.leave(function):
            return None
        found = next((each for each in self._minimised if each.runs is function), None)
        if found is None and hops:
            calls = self._callers.calls_of(function)
            found = next(filter(None, (self.around(each, hops - 1) for each in calls)), None)
        return found

    @cached_property
    def _minimised(self) -> tuple[Search, ...]:
        """The searches that are given what tries one setting, and says how good it is."""
        return tuple(self._found())

    def _found(self) -> Iterator[Search]:
        for call, name in self._names.calls(frozenset(_MINIMISERS)):
            keyword, place, often = _MINIMISERS[name]
            yield from self._search(call, keyword, argument(call, place, often))
        if self._names.uses(("optuna",)):
            for call, method in self._tree.methods("optimize"):
                if self._names.qualified(method) is None:
                    yield from self._search(call, "func", argument(call, 1, "n_trials"))

    def _search(self, call: ast.Call, keyword: str, often: ast.expr | None) -> Iterator[Search]:
        function = self._given(call, keyword)
        if function is not None:
            yield Search(call, function, as_count(self._values.number(often)))

    def _given(self, call: ast.Call, keyword: str) -> FunctionNode | None:
        given = argument(call, 0, keyword)
        return self._functions.function(given) if given is not None else None

    @cached_property
    def wrapped(self) -> tuple[Search, ...]:
        """The functions that build the models which libraries then train, and how often."""
        found: list[Search] = []
        for call, name in self._names.calls(_CROSSES | _TRIES):
            function = self._builder(argument(call, 0, "estimator"))
            jobs = self._values.number(argument(call, None, "n_jobs"))
            if function is not None and jobs in (None, 1):  # others are processes, which end
                found.append(Search(call, function, self._often(call, name)))
        return tuple(found)

    def _often(self, call: ast.Call, name: str) -> int | None:
        """How many models scikit-learn has built: one for each part, of each setting that is tried.

        And the best once more.
        """
        folds, settings = self._folds(argument(call, None, "cv")), self._settings(call, name)
        if folds is None or settings is None:
            return None
        return folds if name in _CROSSES else settings * folds + 1

    def _folds(self, given: ast.expr | None) -> int | None:
        """Into how many parts it splits the data: a number, or `KFold(n_splits=10)`."""
        if given is None:
            return _FOLDS
        number = self._values.number(given)
        if number is not None:
            return as_count(number)
        made = self._flow.meant(given)
        if not isinstance(made, ast.Call):
            return None
        repeated = self._names.is_any(made.func, _REPEATS)
        if not repeated and not self._names.is_any(made.func, _SPLITTERS):
            return None
        splits = argument(made, None if repeated else 0, "n_splits")
        again = argument(made, None, "n_repeats")
        folds = _FOLDS if splits is None else as_count(self._values.number(splits))
        times = _REPETITIONS if again is None else as_count(self._values.number(again))
        return folds if not repeated or folds is None or times is None else folds * times

    def _settings(self, call: ast.Call, name: str) -> int | None:
        """How many settings are tried."""
        if name in _CROSSES:
            return 1
        if name.endswith(".RandomizedSearchCV"):
            often = argument(call, 2, "n_iter")
            return _TRIED if often is None else as_count(self._values.number(often))
        given = argument(call, 1, "param_grid") if name.endswith(".GridSearchCV") else None
        made = self._flow.meant(given) if given is not None else None
        if isinstance(made, ast.Call) and isinstance(made.func, ast.Name):
            named = made.func.id == "dict" and not made.args
            lists = [each.value for each in made.keywords] if named else []
        else:
            lists = made.values if isinstance(made, ast.Dict) else []
        sizes = [self._size(each) for each in lists]
        known = [each for each in sizes if each is not None]
        return prod(known) if known and len(known) == len(sizes) else None

    def _size(self, node: ast.expr) -> int | None:
        """How many values a setting has, written down."""
        made = self._flow.meant(node)
        return len(made.elts) if isinstance(made, (ast.List, ast.Set, ast.Tuple)) else None

    @cached_property
    def fitted(self) -> tuple[tuple[ast.Call, FunctionNode], ...]:
        """What is asked to `fit` that builds a model by a function, each time: `clone(wrapper)`."""
        fits = self._tree.methods("fit") if self._names.mentions(_WRAPPERS) else ()
        found = ((call, self._builder(method.value)) for call, method in fits)
        return tuple((call, function) for call, function in found if function is not None)

    def _builder(self, estimator: ast.expr | None) -> FunctionNode | None:
        """The function that builds the model of a wrapper."""
        wrapper = self._wrapper(estimator, _MAX_HOPS)
        built = wrapper and (argument(wrapper, 0, "build_fn") or argument(wrapper, 0, "model"))
        return self._functions.function(built) if built else None

    def _wrapper(self, estimator: ast.expr | None, hops: int) -> ast.Call | None:
        """What wraps a model for scikit-learn, be it a copy, or the last part of a pipeline."""
        made = self._flow.meant(estimator) if estimator is not None else None
        if not isinstance(made, ast.Call) or hops == 0:
            return None
        if self._names.is_any(made.func, _COPIES):
            return self._wrapper(argument(made, 0, "estimator"), hops - 1)
        if self._names.is_any(made.func, _PIPELINES):
            steps = made.args[-1] if made.args else argument(made, 0, "steps")
            steps = self._flow.meant(steps) if steps is not None else None
            last = steps.elts[-1] if isinstance(steps, ast.List) and steps.elts else steps
            return self._wrapper(last.elts[-1] if isinstance(last, ast.Tuple) else last, hops - 1)
        return self._names.call_of(made, _WRAPPERS)
