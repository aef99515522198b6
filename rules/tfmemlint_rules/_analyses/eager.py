"""What has code run as plain Python that would otherwise become graphs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.loops import Over
from tfmemlint.facts.graphs.tracing import TracedBy, Tracing
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.training import CHECKPOINTS, FITS, RUNS
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called

_RUNS = FITS | RUNS
"""Methods of Keras's that run steps of a model."""
_SEARCHES = ("keras_tuner", "kerastuner")
"""What runs models by itself."""
_RUN_WORDS = frozenset(each.encode() for each in (*_RUNS, *_SEARCHES))
_GRAPHS = ("tensorflow.function", "tensorflow.GradientTape")
_GRAPH_WORDS = frozenset({b"GradientTape", b"apply_gradients", b"train_step"})
_READS_VALUE = frozenset({"bool", "float", "int"})
_MAKES = ("keras.backend.", "keras.ops.", "tensorflow.")
_DRAWS = ("numpy.random.", "random.")
_FEW_ROWS = 1024
"""As many as a model is tried on."""
_FEW_TRIPS = 32
_COUNTED = frozenset({Over.OFFSETS, Over.RANGE})
_NUMBER = r"%[-+ #0]*[\d.]*[dfegi]"
"""What `%` makes of a number alone."""
_DEBUGGERS = ("ipdb", "pdb", "pudb")

EagerSwitch = ast.keyword | ast.Call | ast.Assign
"""`run_eagerly=True` of a `compile`, the call of a switch, `model.run_eagerly = True`."""


class EagerMode:
    """The switches of a file that turn graphs off."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._values = tf.values
        self._imports = tf.imports
        self._switches = tf.switches
        self._loops = tf.loops
        self._tracing = Tracing(tf, obeys_switches=False)

    @cached_property
    def left_on(self) -> tuple[EagerSwitch, ...]:
        """The switches that no test decides on and that nothing in the file turns back.

        None where the file asks how they stand: there the modes are what it is about.
        """
        if any(_is_switch(each) for each in self._tree.all(ast.Attribute)):
            return ()
        decided = self._switches.is_conditional
        found: list[EagerSwitch] = [*self._compiled(), *self._set()]
        return (*(each for each in found if not decided(each)), *self._switches.left_on)

    @cached_property
    def is_debugged(self) -> bool:
        """Whether somebody is at the code with a debugger."""
        called = (each.func for each in self._tree.calls(("breakpoint",)))
        stops = any(isinstance(each, ast.Name) for each in called)
        return stops or self._names.uses(_DEBUGGERS)

    def runs(self, switch: EagerSwitch) -> bool:
        """Whether Keras may run steps of the model that is set so, here or in another file."""
        if isinstance(switch, ast.Call):
            return self._runs_any or self._makes_graphs
        above = self._tree.parent(switch) if isinstance(switch, ast.keyword) else None
        target = switch.targets[0] if isinstance(switch, ast.Assign) else None
        method = above.func if isinstance(above, ast.Call) else target
        model = method.value if isinstance(method, ast.Attribute) else None
        holder = model.value if isinstance(model, ast.Attribute) else model
        binding = self._bindings.only(holder)
        made = binding.value if binding is not None and not binding.path else None
        if binding is None or not isinstance(made, ast.Call) or binding.how is not How.ASSIGNED:
            return self._runs_any  # another name of it, whose uses are not all
        readers = self._bindings.readers(binding)
        if holder is model:
            return any(map(self._may_run, readers))
        parts = map(self._tree.parent, readers)  # the object may hold the model by other names, too
        return any(
            self._may_run(each)
            if isinstance(each, ast.Attribute) and not self._is_method(each, model)
            else self._runs_any
            for each in parts
        )

    def _is_method(self, part: ast.Attribute, model: ast.expr | None) -> bool:
        """Whether what is called of an object is something else than its model."""
        above = self._tree.parent(part)
        called = isinstance(above, ast.Call) and above.func is part
        return called and part.attr != getattr(model, "attr", "")

    def _may_run(self, model: ast.expr) -> bool:
        """Whether a use of a model runs its steps, or hands it to what may."""
        above = self._tree.parent(model)
        if isinstance(above, ast.Attribute):
            return above.attr in _RUNS
        harmless = isinstance(above, ast.Call) and (
            above.func is model or self._names.is_any(above.func, CHECKPOINTS)
        )
        return not harmless and self._runs_any

    @cached_property
    def _runs_any(self) -> bool:
        """Whether this file, one that imports it or one that it imports runs models at all."""
        runs_there = any(not _RUN_WORDS.isdisjoint(each) for each in self._imports.words)
        files = [(self._tree, self._names)]
        files += ((each.tree, each.names) for each in self._imports.importers)
        return runs_there or any(
            names.uses(_SEARCHES) or next(tree.methods(*_RUNS), None) is not None
            for tree, names in files
        )

    @cached_property
    def _makes_graphs(self) -> bool:
        """Whether this file, or one beside it, would make graphs by itself, or take gradients."""
        if any(not _GRAPH_WORDS.isdisjoint(each) for each in self._imports.words):
            return True
        named = [self._names, *(each.names for each in self._imports.importers)]
        return any(each.uses(_GRAPHS) for each in named)

    def is_needed(self, switch: EagerSwitch) -> bool:
        """Whether something asks tensors for their values, as it can of no graph's.

        Traced code of any kind, or a loss or metric that is compiled with the model. And whether
        a `tf.function` makes layers: a graph can be made of that only once.
        """
        call = self._tree.parent(switch) if isinstance(switch, ast.keyword) else None
        given = [*call.args, *_values(call)] if isinstance(call, ast.Call) else []
        return self._traced_code_asks or any(map(self._asks, given))

    @cached_property
    def _traced_code_asks(self) -> bool:
        calls = self._tree.all(ast.Call)
        return (
            self._traced_code_formats
            or any(
                (self._wants_python(each) and self._tracing.why(each)) or self._makes_layer(each)
                for each in calls
            )
            or self._would_unroll
        )

    def _wants_python(self, call: ast.Call) -> bool:
        """Whether a call asks for a value, or draws a number that a graph would keep for good."""
        drawn = (self._names.qualified(call.func) or "").startswith(_DRAWS)
        return drawn or self._asks_for_value(call)

    @cached_property
    def _traced_code_formats(self) -> bool:
        """Whether traced code writes numbers out: `"%.4f" % loss`, `f"{loss:.4f}"`."""
        written = self._tree.all(ast.BinOp, ast.FormattedValue)
        return any(_is_formatted(each) and self._tracing.why(each) for each in written)

    def _makes_layer(self, call: ast.Call) -> bool:
        """Whether traced code makes a layer, or a variable, which it can only once."""
        module, _, name = (self._names.qualified(call.func) or "").rpartition(".")
        if module == "tensorflow" and name == "Variable":
            return self._tracing.why(call) is not None and not self._tree.is_conditional(call)
        why = self._tracing.why(call) if module == "keras.layers" and name[:1].isupper() else None
        return why is not None and why.by is TracedBy.TF_FUNCTION

    @property
    def _would_unroll(self) -> bool:
        """Whether a graph would get a loop's body many times, so that to trace it takes longest."""
        loops = map(self._loops.loop, self._tree.all(ast.For))
        return any(
            loop.over in _COUNTED
            and (loop.trips or 0) > _FEW_TRIPS
            and self._tracing.why(loop.node)
            for loop in loops
        )

    def _asks(self, given: ast.expr) -> bool:
        """Whether a function of the module, alone or in a list, asks tensors for values."""
        several = given.elts if isinstance(given, (ast.List, ast.Tuple)) else [given]
        functions = map(self._functions.function, several)
        return any(
            isinstance(node, ast.Call) and self._asks_for_value(node)
            for function in functions
            if function is not None
            for node in ast.walk(function)
        )

    def _asks_for_value(self, call: ast.Call) -> bool:
        """`x.numpy()`, `float(tf.reduce_sum(x))`, and `np.abs(x)` of what a function is given."""
        if called(call) in _READS_VALUE:
            asked = [each for argument in call.args for each in ast.walk(argument)]
            made = (each.func for each in asked if isinstance(each, ast.Call))
            return any((self._names.qualified(each) or "").startswith(_MAKES) for each in made)
        if not (self._names.qualified(call.func) or "").startswith("numpy."):
            return _is_method(call, "numpy")
        read = (each for given in call.args for each in ast.walk(given))
        names = [each for each in read if isinstance(each, ast.Name)]
        plain = (each for each in names if not isinstance(self._tree.parent(each), ast.Attribute))
        bound = (binding for each in plain for binding in self._bindings.reaching(each))
        return any(each.how is How.PARAMETER for each in bound)

    def _compiled(self) -> Iterator[ast.keyword]:
        """`model.compile(..., run_eagerly=True)`, where nothing compiles the model further on."""
        calls = [each for each, _ in self._tree.methods("compile")]
        for call in calls:
            keyword = next((each for each in call.keywords if each.arg == "run_eagerly"), None)
            if keyword is not None and self._switches.is_true(keyword.value):
                later = (each for each in calls if each.lineno > call.lineno)
                again = any(self._bindings.same(_model(each), _model(call)) for each in later)
                if not again and not self._is_tried(call):
                    yield keyword

    def _is_tried(self, compiled: ast.Call) -> bool:
        """Whether the next that is trained after a `compile` are a few rows: `fit(x[:64], …)`."""
        model = ast.unparse(_model(compiled))
        fits = [call for call, _ in self._tree.methods("fit") if call.lineno > compiled.lineno]
        mine = (each for each in fits if ast.unparse(_model(each)) == model)
        first = min(mine, key=lambda each: each.lineno, default=None)
        given = argument(first, 0, "x") if first is not None else None
        if not isinstance(given, ast.Subscript) or not isinstance(given.slice, ast.Slice):
            return False
        rows = self._values.number(given.slice.upper) if given.slice.lower is None else None
        return rows is not None and 0 < rows <= _FEW_ROWS

    def _set(self) -> Iterator[ast.Assign]:
        """`model.run_eagerly = True`, where nothing sets it to anything else."""
        found = [
            assignment
            for assignment in self._tree.all(ast.Assign)
            for target in assignment.targets
            if isinstance(target, ast.Attribute) and target.attr == "run_eagerly"
        ]
        if all(self._switches.is_true(assignment.value) for assignment in found):
            yield from found


def _is_formatted(node: ast.BinOp | ast.FormattedValue) -> bool:
    if isinstance(node, ast.FormattedValue):
        return node.format_spec is not None
    text = node.left.value if isinstance(node.left, ast.Constant) else None
    return isinstance(text, str) and re.search(_NUMBER, text) is not None


def _is_switch(node: ast.Attribute) -> bool:
    return node.attr == "run_eagerly" and isinstance(node.ctx, ast.Load)


def _values(call: ast.Call) -> list[ast.expr]:
    return [each.value for each in call.keywords]


def _is_method(call: ast.Call, name: str) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def _model(call: ast.Call) -> ast.expr:
    return call.func.value if isinstance(call.func, ast.Attribute) else call.func
