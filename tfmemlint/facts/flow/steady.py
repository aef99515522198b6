"""Code that does the same whenever it is traced, and loops that change nothing that it reads."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.stateless import HOPS, SETTERS, Stateless
from tfmemlint.facts.graphs.wrappings import Made
from tfmemlint.facts.library import steady_words as words
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.words import LIBRARIES
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode

_FIXED = frozenset({Kind.NUMBER, Kind.TENSOR, Kind.VARIABLE})
"""What a name bound once stands for all the time, as far as tracing goes."""
_RUN_MODELS = frozenset(
    {"evaluate", "fit", "predict", "predict_on_batch", "save", "save_weights", "summary"}
    | {"get_weights", "load_weights", "set_weights", "test_on_batch", "train_on_batch"}
)


class Steady:
    """Which code is known to be no other when it is traced again, or traced at another time."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._tracers = tf.tracers
        self._values = tf.values
        self._imports = tf.imports
        self._stateless = tf.of(Stateless)

    def is_steady(self, traced: Made | FunctionNode) -> bool:
        """Whether one trace does all that several would, at whatever time.

        It and what it calls of this module are made of operations that draw no random numbers;
        they change nothing of Python's, and what they read around them is bound once: numbers,
        tensors, variables, and plain Keras objects, which `leaves_alone` tells of a loop.
        """
        if self._tree.calls(_REBINDS):
            return False
        inside = self._run_by(traced)
        if any(self._tree.elsewhere(each) is not None for each in inside):
            return False
        return all(
            self._is_steady(node, traced, inside) for each in inside for node in ast.walk(each)
        )

    def leaves_alone(self, code: ast.AST, *apart: Made | FunctionNode) -> bool:
        """Whether code, and what it calls, apart from some functions, sets no object's attributes.

        And calls nothing that might do so out of sight, or change how TensorFlow traces.
        """
        skipped = [each for traced in apart for each in self._run_by(traced)]
        pending = [code]
        for each in pending:
            if self._tree.elsewhere(each) is not None:
                return False
            for node in _outside(each, skipped):
                if not self._is_harmless(node):
                    return False
                found = self._meant(node)
                if found is not None and found not in pending and found not in skipped:
                    pending.append(found)
        return True

    def _run_by(self, traced: ast.AST) -> list[ast.AST]:
        """The traced code of this module: a function and those it mentions."""
        inside = [traced]
        for each in inside:
            for node in ast.walk(each):
                found = self._meant(node)
                if isinstance(found, FUNCTIONS) and found not in inside:
                    inside.append(found)
        return inside

    def _meant(self, node: ast.AST) -> FunctionNode | ast.ClassDef | None:
        """The function or class of this module that is called or mentioned here."""
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            return self._functions.definition(node)
        return None

    # What is traced.

    def _is_steady(self, node: ast.AST, traced: ast.AST, inside: list[ast.AST]) -> bool:
        if isinstance(node, _LEAVES):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return isinstance(node, ast.Subscript) and self._is_made_inside(node.value, inside)
        if isinstance(node, ast.Call):
            return self._is_steady_call(node, inside)
        if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
            return True
        if self._names.qualified(node) is not None:
            return self._is_known(self._whole(node))
        home = self._bindings.home(node.id, node)
        if home is None:
            return node.id in words.BUILTINS or node.id in _ERRORS
        if any(self._tree.inside(home, each) for each in inside):
            if self._functions.instance_of(node) is not None:
                return self._is_fixed_member(node)
            above = self._tree.parent(node)
            return not isinstance(above, ast.Attribute) or above.attr in words.ATTRIBUTES
        wrapped = isinstance(traced, ast.Call) and node in traced.args
        if wrapped and self._functions.function(node) is None:
            maker = self._stateless.maker(node)
            return maker is not None and not self._stateless.may_drop(maker)
        return self._is_fixed(node, traced)

    def _is_steady_call(self, call: ast.Call, inside: list[ast.AST]) -> bool:
        callee = call.func
        if self._functions.function(callee) is not None or self._names.qualified(callee):
            return True  # its code is read, its name is known
        if isinstance(callee, ast.Name) and self._bindings.home(callee.id, callee) is None:
            return callee.id in words.BUILTINS or callee.id in _ERRORS
        maker = self._stateless.maker(callee)
        if maker is not None:
            return self._stateless.is_plain_run(maker, call)
        if not isinstance(callee, ast.Attribute):
            return isinstance(callee, ast.Call)  # a function that is wrapped where it is called
        if callee.attr in ("append", "extend"):
            return self._is_made_inside(callee.value, inside)
        begins = callee.attr == "as_default" and not (call.args or call.keywords)
        return begins or callee.attr in words.METHODS

    def _is_known(self, expression: ast.expr) -> bool:
        """Whether all that a dotted name may mean is known to compute, and nothing else."""
        name = self._names.qualified(expression) or ""
        if any(each in name for each in words.DRAWS):
            return False
        if name.startswith("tensorflow.summary."):
            return self._stateless.has_one_writer
        return name in words.EXACT or name.startswith(words.COMPUTES)

    def _is_fixed(self, name: ast.Name, traced: ast.AST, hops: int = HOPS) -> bool:
        """Whether a name from around the function is bound once, to what has no state."""
        binding = self._bindings.only(name)
        scope = self._bindings.home(name.id, name)
        if binding is None or scope is None or len(self._bindings.of(scope, name.id)) > 1:
            return False
        if not all(self._tree.inside(traced, loop) for loop in self._tree.loops(binding.node)):
            return False
        if binding.how is How.DEFINED:
            above = self._tree.parent(name)
            return isinstance(binding.node, FUNCTIONS) and not isinstance(above, ast.Attribute)
        if isinstance(scope, ast.Module) and self._imports.may_touch(name.id):
            return False
        if binding.value is not None and binding.is_whole:
            return self._is_fixed_value(binding.value, binding, traced, hops)
        passed = binding.how is How.PARAMETER or (binding.how is How.ASSIGNED and binding.path)
        return bool(passed) and self._values.of(name).kind in _FIXED

    def _is_fixed_value(
        self, value: ast.expr, binding: Binding, traced: ast.AST, hops: int
    ) -> bool:
        if isinstance(value, (ast.Constant, ast.Lambda)):
            return True
        held = _elements(value)
        if held is not None and (any(map(_holds_more, held)) or not self._stays(binding)):
            return False
        if isinstance(value, ast.Name) and hops:
            return self._is_fixed(value, traced, hops - 1)
        if isinstance(value, (ast.List, ast.Tuple)):
            return all(self._is_fixed_value(each, binding, traced, hops) for each in value.elts)
        if isinstance(value, ast.Dict):
            return all(self._is_fixed_value(each, binding, traced, hops) for each in value.values)
        if isinstance(value, ast.ListComp):
            return self._is_fixed_value(value.elt, binding, traced, hops)
        if isinstance(value, ast.BinOp):
            operands = (value.left, value.right)
            return all(self._is_fixed_value(each, binding, traced, hops) for each in operands)
        made = value.func if isinstance(value, ast.Call) else value
        if self._tracers.makes_tf_function(made):
            return self._functions.function(value) is not None
        if self._names.is_any(made, words.WRITERS):
            return self._stateless.has_one_writer
        is_array = (self._names.qualified(made) or "").startswith("numpy.") and made is not value
        if self._is_known(made) and not is_array:
            return True
        return (
            self._values.of(value).kind in _FIXED or self._stateless.maker(value, hops) is not None
        )

    def _is_fixed_member(self, name: ast.Name) -> bool:
        """Whether what is read of `self` is a method, or is set once, by `__init__`."""
        above = self._tree.parent(name)
        owner = self._functions.instance_of(name)
        if not isinstance(above, ast.Attribute) or owner is None:
            return False
        if self._functions.method(owner, above.attr) is not None:
            return True
        values = self._functions.attributes(owner, above.attr)
        written = [
            each
            for each in self._tree.attributes.get(above.attr, ())
            if not isinstance(each.ctx, ast.Load)
        ]
        if len(values) != 1 or len(written) != 1:
            return False
        within = self._tree.function(written[0])
        value, kind = values[0], self._values.of(values[0]).kind
        known = isinstance(value, ast.Constant) or kind in _FIXED or self._stateless.maker(value)
        return getattr(within, "name", "") == "__init__" and bool(known)

    def _stays(self, binding: Binding) -> bool:
        """Whether nothing is done with a list but to go over it and to take out of it."""
        scope = self._bindings.home(binding.name, binding.node)
        loads = self._bindings.loads(scope, binding.name) if scope is not None else []
        return all(map(self._only_reads, loads))

    def _only_reads(self, use: ast.Name) -> bool:
        above = self._tree.parent(use)
        if isinstance(above, ast.Subscript):
            return isinstance(above.ctx, ast.Load) and above.value is use
        if isinstance(above, (ast.For, ast.comprehension)):
            return above.iter is use
        if isinstance(above, ast.keyword):
            above = self._tree.parent(above)
        if not isinstance(above, ast.Call) or above.func is use:
            return False
        callee = above.func
        if isinstance(callee, ast.Name) and self._bindings.home(callee.id, callee) is None:
            return callee.id in words.BUILTINS
        is_known = self._names.qualified(callee) is not None and self._is_known(callee)
        method = callee.attr if isinstance(callee, ast.Attribute) else ""
        return is_known or (method in _ONLY_TAKE and method not in self._defined)

    def _is_made_inside(self, node: ast.expr, inside: list[ast.AST]) -> bool:
        """Whether a list or dictionary is begun in traced code itself."""
        if not isinstance(node, ast.Name):
            return False
        found = self._bindings.reaching(node)
        return bool(found) and all(
            isinstance(each.value, (ast.List, ast.Dict))
            and any(self._tree.inside(each.node, code) for code in inside)
            for each in found
        )

    def _whole(self, name: ast.expr) -> ast.expr:
        """The dotted name that a name begins, as far as that means something imported."""
        above = self._tree.parent(name)
        while isinstance(above, ast.Attribute) and self._names.qualified(above) is not None:
            name, above = above, self._tree.parent(above)
        return name

    # What runs between traces.

    def _is_harmless(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            return self._functions.instance_of(node.value) is not None
        if not isinstance(node, ast.Call) or self._functions.definition(node.func) is not None:
            return True
        name = self._names.qualified(node.func)
        if name is not None:
            return name.partition(".")[0] in _LOOKS_ON and not name.startswith(words.SETS)
        callee = node.func
        if isinstance(callee, ast.Name):
            unbound = self._bindings.home(callee.id, callee) is None
            if unbound:
                return hasattr(builtins, callee.id) and callee.id not in SETTERS | _REBINDS
            return self._stateless.made_by(callee) is not None
        if isinstance(callee, ast.Call):
            return True  # what it gives is called: it is asked about itself
        if not isinstance(callee, ast.Attribute):
            return False
        if callee.attr in words.METHODS or callee.attr in words.RECORDS:
            return callee.attr not in self._defined
        if self._values.of(callee.value).kind in (Kind.ARRAY, Kind.DATASET, Kind.TENSOR):
            return True
        runs = callee.attr in _RUN_MODELS and self._values.of(callee.value).kind is Kind.MODEL
        told = all(each.arg not in ("callbacks", None) for each in node.keywords)
        return runs and told and len(node.args) <= _FIRST_ARGUMENTS

    @cached_property
    def _defined(self) -> frozenset[str]:
        """The names of the file's own functions, which some object of its own may be asked for."""
        return frozenset(each.name for each in self._tree.all(ast.FunctionDef))


_FIRST_ARGUMENTS = 5
"""What comes before callbacks, by place."""
_ONLY_TAKE = frozenset({"apply_gradients", "gradient", "jacobian", "minimize", "watch"})
"""Methods of tapes and optimizers that change nothing in a list that they are given."""
_REBINDS = frozenset({"eval", "exec", "globals", "vars"})
"""What may give a name another value out of sight."""
_LOOKS_ON = LIBRARIES | words.LOOKS_ON
_LEAVES = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.Import)
_ERRORS = frozenset(
    name
    for name, each in vars(builtins).items()
    if isinstance(each, type) and issubclass(each, BaseException)
)


def _elements(value: ast.expr) -> list[ast.expr] | None:
    """What a container holds that can be changed; None of any other value."""
    if isinstance(value, ast.List):
        return value.elts
    if isinstance(value, ast.Dict):
        return value.values
    return [value.elt] if isinstance(value, ast.ListComp) else None


def _holds_more(value: ast.expr) -> bool:
    """Whether what a container holds can be changed itself, under another name."""
    return isinstance(value, (ast.Dict, ast.DictComp, ast.List, ast.ListComp, ast.Name, ast.Set))


def _outside(code: ast.AST, skipped: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of code, without those of some functions in it."""
    apart, pending = set(skipped), [code]
    while pending:
        node = pending.pop()
        yield node
        pending += [each for each in ast.iter_child_nodes(node) if each not in apart]
