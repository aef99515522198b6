"""Calls that are said to free memory, where there is nothing for them to free."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.steady_words import LOOKS_ON
from tfmemlint.facts.library.training import TRAINS
from tfmemlint.facts.library.words import LIBRARIES
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called, within
from tfmemlint.facts.syntax.tree import LoopNode
from tfmemlint.light_typing import NamedTuple

_KNOWN = LIBRARIES | LOOKS_ON
_RESETS = frozenset({"tensorflow.reset_default_graph"})
_COLLECTS = frozenset({"gc.collect", "keras.backend.clear_session"})
_METHODS = """append as_default assign assign_add assign_sub astype batch close copy evaluate flush
    format get_weights gradient info item items join keys load_weights map mean numpy predict
    predict_on_batch prefetch print repeat reset_state reset_states reset result save
    save_weights scalar set_description set_postfix shuffle split step strftime sum take
    test_on_batch update update_state values write"""
_HARMLESS = TRAINS | frozenset(_METHODS.split())
_PLAIN = """dict enumerate float format int len list max min next print range round str sum tqdm
    tuple zip"""
_BUILTINS = frozenset(_PLAIN.split())
_PACKAGES = "csv datetime gc glob json keras logging math numpy os random shutil tensorflow time"
_KEEP_NOTHING = frozenset(_PACKAGES.split())
"""Packages whose functions leave no cycles of large objects behind."""
_MAKES = ("keras.Model", "keras.Sequential", "keras.layers.", "keras.models.", "keras.optimizers.")
_MAX_HOPS = 4


class Placebo(NamedTuple):
    """One such call, of whose result nothing is made."""

    statement: ast.stmt
    """What the call is, or is a part of."""
    call: ast.Call
    name: str
    loop: LoopNode | None
    """The loop of training that it stands in; None for what does nothing anywhere."""

    @property
    def resets_graph(self) -> bool:
        """Whether it empties a graph that nothing is in."""
        return self.name in _RESETS


class Placebos:
    """Such calls of a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._bindings = tf.bindings
        self._imports = tf.imports
        self._functions = tf.functions
        self._callers = tf.callers
        self._tracing = tf.tracing
        self._flow = tf.flow
        self._loops = tf.loops
        self._objects = tf.objects

    @cached_property
    def all(self) -> tuple[Placebo, ...]:
        """Every one, in source order; none where graphs are made by hand."""
        if self._tracing.by_hand:
            return ()
        found = (self._of(call, name) for call, name in self._names.calls(_RESETS | _COLLECTS))
        return tuple(each for each in found if each is not None)

    def _of(self, call: ast.Call, name: str) -> Placebo | None:
        statement = self._tree.statement(call)
        if self._tracing.why(call) is not None or not self._is_unread(call):
            return None
        if name in _RESETS:
            empty = _is_of_version_2(call) and self._is_all_in_sight
            return Placebo(statement, call, name, None) if empty else None
        loop = self._loop(call, _MAX_HOPS)
        return None if loop is None else Placebo(statement, call, name, loop)

    @cached_property
    def _is_all_in_sight(self) -> bool:
        """Whether no other code may put anything into the graph: neither a module that is imported,
        or imports this one, nor a function that is handed over."""
        imported = [self._names.imported(each) for each in self._tree.all(ast.alias)]
        known = all((each or "").partition(".")[0] in _KNOWN for each in imported)
        bound = (self._bindings.only(call.func) for call in self._tree.all(ast.Call))
        handed = any(each is not None and each.how is How.PARAMETER for each in bound)
        return known and not handed and not self._imports.importers

    def _is_unread(self, call: ast.Call) -> bool:
        """Whether nobody looks at what a call gives back, wherever that is put."""
        uses = () if isinstance(self._tree.parent(call), ast.Expr) else self._objects.uses(call)
        return uses is not None and all(map(self._is_left, (call, *uses)))

    def _is_left(self, use: ast.expr) -> bool:
        above = self._tree.put_into(use)
        if isinstance(above, ast.Call):
            paired = called(above) == "zip"
            return paired or self._functions.definition(above.func) is not None
        return isinstance(above, (ast.Assign, ast.Expr, ast.Return))

    def _loop(self, at: ast.AST, hops: int) -> LoopNode | None:
        """The loop of training whose every round runs code, here or in all that call it."""
        loops = [
            each
            for each in self._tree.loops(at)
            if isinstance(each, (ast.For, ast.While)) and self._loops.loop(each).trips != 1
        ]
        if self._tree.is_conditional(at):
            return None
        if loops:
            steps = self._trains(loops[0]) and self._makes_nothing(loops[0].body, _MAX_HOPS)
            return loops[0] if steps else None
        calls = self._callers.around(at) if hops else ()
        found = [self._loop(each, hops - 1) for each in calls]
        return found[0] if found and None not in found else None

    def _trains(self, loop: LoopNode) -> bool:
        """Whether each round is a step, or some, of a model's training."""
        run = self._run(loop.body, _MAX_HOPS)
        called = (each.func for each in run if isinstance(each, ast.Call))
        return any(isinstance(each, ast.Attribute) and each.attr in TRAINS for each in called)

    def _makes_nothing(self, body: list[ast.stmt], hops: int) -> bool:
        """Whether rounds surely make no model or other object that has to be collected."""
        for node in self._run(body, hops):
            if isinstance(node, (ast.ClassDef, ast.Lambda, ast.Import, ast.ImportFrom)):
                return False
            if isinstance(node, ast.Call) and not self._is_harmless(node):
                return False
        return True

    def _is_harmless(self, call: ast.Call) -> bool:
        name = self._names.qualified(call.func)
        if name is not None:
            made = name.startswith(_MAKES) and name.rpartition(".")[2] != "predict"
            return not made and name.partition(".")[0] in _KEEP_NOTHING
        if self._functions.function(call.func) is not None:
            return True  # its code is looked at, too
        if isinstance(call.func, ast.Attribute):
            return call.func.attr in _HARMLESS
        return isinstance(call.func, ast.Name) and (
            call.func.id in _BUILTINS or self._is_object(call.func)
        )

    def _is_object(self, name: ast.Name) -> bool:
        """Whether a name is that of something Keras made: a model, a layer, a loss, a metric."""
        origins = self._flow_of(name)
        return bool(origins) and all(
            isinstance(each, ast.Call)
            and (self._names.qualified(each.func) or "").startswith("keras.")
            for each in origins
        )

    def _flow_of(self, name: ast.Name) -> list[ast.expr]:
        return [each.value for each in self._flow.origins(name) or ()]

    def _run(self, body: list[ast.stmt], hops: int) -> Iterator[ast.AST]:
        """The code of some statements, and of the functions of the module that they call."""
        for node in within(body):
            yield node
            function = self._functions.function(node.func) if isinstance(node, ast.Call) else None
            if hops and isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef)):
                yield from self._run(function.body, hops - 1)


def _is_of_version_2(call: ast.Call) -> bool:
    """Whether a name is one of `tf.compat.v1`, by which programs of TensorFlow 2 have it."""
    return "compat.v1" in ast.unparse(call.func)
