"""Joins in loops that surely give the same where they are made once, behind the loop."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import within
from tfmemlint.facts.syntax.tree import FUNCTIONS
from tfmemlint_rules._analyses.joins import Joined

_MAX_HOPS = 5
_LEAST_AXES = {"numpy.append": 1, "numpy.concatenate": 1, "numpy.hstack": 1, "numpy.vstack": 2}
"""How many axes the start has to have, to be no other where nothing is joined to it."""
_STARTS = frozenset({"numpy.empty", "numpy.full", "numpy.ones", "numpy.zeros"})
_PREDICTS = frozenset({"predict", "predict_on_batch"})

_QUIET = frozenset({"enumerate", "float", "int", "len", "range", "reversed", "zip"})


class SureJoins:
    """Whether nobody can tell an array that grew from one that was joined once."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._tapes = tf.tapes
        self._traced = tf.sure_traced
        self._outside = tf.outside
        self._bindings = tf.bindings
        self._names = tf.names
        self._classes = tf.classes
        self._constants = tf.constants
        self._datasets = tf.datasets

    def is_sure(self, joined: Joined, start: ast.Assign) -> bool:
        """Whether values, dtype and shape are the same, be it after no rounds or after an error.

        Only the loop sees what it adds: tensors, or arrays that a round makes and drops again. No
        gradient goes through it, whose parts would be summed up in another order.
        """
        if not joined.is_numpy and self._may_have_gradient(joined):
            return False
        return (
            self._is_out_of_reach(joined, start)
            and self._is_quiet(joined)
            and self._begins_as_whole(joined, start.value)
            and all(self._is_fresh(each, joined) for each in joined.added)
        )

    def _may_have_gradient(self, joined: Joined) -> bool:
        """Whether code in sight, or that calls this out of sight, may take a gradient."""
        function = self._tree.function(joined.node)
        if self._tapes.all or "ForwardAccumulator" in self._tree.attributes:
            return True
        if any(each.arg == "run_eagerly" for each in self._tree.all(ast.keyword)):
            return True
        return function is not None and self._traced.calls(function) is None

    def _is_out_of_reach(self, joined: Joined, start: ast.Assign) -> bool:
        """Whether no other function or file can see a list where an array was."""
        name = joined.target
        home = self._bindings.home(name.id, name) if isinstance(name, ast.Name) else None
        if home is None or not isinstance(name, ast.Name) or isinstance(home, ast.ClassDef):
            return False
        here = self._tree.function(joined.node)
        loads = self._bindings.loads(home, name.id)
        loop = joined.loops[-1].node
        declared = self._tree.all(ast.Global, ast.Nonlocal)
        return (
            all(self._tree.function(each) is here for each in loads)
            and not any(name.id in each.names for each in declared)
            and not (isinstance(home, ast.Module) and self._outside.imported)
            and all(
                self._tree.inside(each, joined.node)
                or each.lineno > (getattr(loop, "end_lineno", None) or 0)
                for each in loads
            )
            and self._tree.function(start) is here
        )

    def _is_quiet(self, joined: Joined) -> bool:
        """Whether the loop shows nothing: what cannot be joined is told behind it, if at all.

        And whether nothing goes on where it is told.
        """
        if any(self._tree.all(ast.Try)) or self._names.uses(("contextlib",)):
            return False
        if any(True for each in self._tree.all(ast.ClassDef) if self._catches(each)):
            return False
        loop = joined.loops[-1].node
        return all(self._shows_nothing(each) for each in within([loop]))

    def _catches(self, owner: ast.ClassDef) -> bool:
        return any(getattr(each, "name", "") == "__exit__" for each in owner.body)

    def _shows_nothing(self, node: ast.AST) -> bool:
        if isinstance(
            node, (ast.Yield, ast.YieldFrom, ast.Await, ast.With, ast.Return, ast.Delete)
        ):
            return False
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return False
        if not isinstance(node, ast.Call):
            return not isinstance(node, FUNCTIONS)
        name = self._names.qualified(node.func)
        if name is not None:
            return (
                name.startswith(("numpy.", "tensorflow."))
                and "print" not in name
                and not any(
                    part in name
                    for part in (".io.", ".save", "summary", "random", "function", "debugging")
                )
            )
        callee = node.func
        if isinstance(callee, ast.Name) and self._constants.is_builtin(callee):
            return callee.id in _QUIET
        if self._is_keras(callee):
            return True
        if isinstance(callee, ast.Attribute) and callee.attr == "numpy":
            return self._is_tensor(callee.value, _MAX_HOPS)
        predicts = isinstance(callee, ast.Attribute) and callee.attr in _PREDICTS
        return predicts and isinstance(callee, ast.Attribute) and self._is_keras(callee.value)

    def _begins_as_whole(self, joined: Joined, start: ast.expr) -> bool:
        """Whether one thing joined is that thing itself: it has the axes, and is no list."""
        if not joined.is_numpy:
            return self._constants.makes_tensor(start) and joined.function == "tensorflow.concat"
        axes = self._axes(start)
        least = _LEAST_AXES.get(joined.function)
        if axes is None or least is None:
            return False
        flat = joined.function == "numpy.append" and not joined.call.keywords
        flat = flat and len(joined.call.args) == 2
        return axes == 1 if flat else axes >= least

    def _axes(self, start: ast.expr) -> int | None:
        """How many axes `np.zeros((0, 4))` has, of the forms that surely tell."""
        if not isinstance(start, ast.Call) or not start.args:
            return None
        name, given = self._names.qualified(start.func), start.args[0]
        if name in _STARTS:
            if isinstance(given, (ast.Tuple, ast.List)):
                return len(given.elts)
            return 1 if isinstance(given, ast.Constant) else None
        listed = isinstance(given, ast.List) and not given.elts
        return 1 if name == "numpy.array" and listed else None

    def _is_fresh(self, node: ast.expr, joined: Joined) -> bool:
        """Whether what is added is a tensor, or an array of one dtype that nothing else holds."""
        if not joined.is_numpy:
            return self._is_tensor(node, _MAX_HOPS)
        made: ast.expr | None = node
        if isinstance(node, ast.Name):
            binding = self._own(node, joined)
            made = binding.value if binding is not None else None
        if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute):
            return False
        if made.func.attr == "numpy" and not made.args:
            return self._is_tensor(made.func.value, _MAX_HOPS)
        return made.func.attr in _PREDICTS and self._is_keras(made.func.value)

    def _own(self, node: ast.Name, joined: Joined) -> Binding | None:
        """What makes a value in each round, of which nothing is read but to be joined."""
        binding = self._bindings.only(node)
        home = self._bindings.home(node.id, node)
        if binding is None or home is None or not binding.is_whole:
            return None
        alone = self._bindings.loads(home, node.id) == [node]
        once = len(self._bindings.of(home, node.id)) == 1
        within_ = self._tree.inside(binding.node, joined.loops[0].node)
        return binding if alone and once and within_ else None

    def _is_tensor(self, node: ast.expr, hops: int) -> bool:
        """Whether an expression surely gives a tensor, whose dtype is the same in each round."""
        if isinstance(node, ast.Call):
            return self._constants.makes_tensor(node) or self._is_keras(node.func)
        if isinstance(node, ast.BinOp):
            return self._is_tensor(node.left, hops) or self._is_tensor(node.right, hops)
        if not isinstance(node, ast.Name) or not hops:
            return False
        binding = self._bindings.only(node)
        if binding is None or binding.value is None or binding.path:
            return False
        if binding.how is How.LOOPED:
            return self._datasets.is_dataset(binding.value) and self._is_single(binding.value)
        return binding.how is How.ASSIGNED and self._is_tensor(binding.value, hops - 1)

    def _is_single(self, dataset: ast.expr) -> bool:
        """Whether the elements of a pipeline are tensors, and not several of them each."""
        chains = self._datasets.of(dataset)
        plain = ("batch", "cache", "prefetch", "repeat", "shuffle", "skip", "take")
        return bool(chains) and all(
            isinstance(chain.source.node, ast.Call)
            and (self._names.qualified(chain.source.node.func) or "").endswith(".range")
            and set(chain.methods) <= set(plain)
            for chain in chains
        )

    def _is_keras(self, callee: ast.expr) -> bool:
        """Whether this is a layer or model of Keras' own, made once, of layers of Keras' own."""
        binding = self._constants.bound_once(callee) if isinstance(callee, ast.Name) else None
        made = binding.value if binding is not None and not binding.path else None
        if not isinstance(made, ast.Call) or self._has_own_layers:
            return False
        name = self._names.qualified(made.func) or ""
        plain = name.startswith("keras.layers.") and "Lambda" not in name
        return plain or name == "keras.Sequential"

    @property
    def _has_own_layers(self) -> bool:
        """Whether the file has layers that run its own code: they may give anything."""
        lambdas = any(each == "Lambda" for each in self._tree.attributes)
        lambdas = lambdas or any(each.name == "Lambda" for each in self._tree.all(ast.alias))
        return lambdas or any(map(self._classes.is_keras, self._tree.all(ast.ClassDef)))
