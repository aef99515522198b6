"""Symbolic tensors: what traced code computes with, and nothing can use once the trace is over."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.graphs.tracing import Traced, TracedBy
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.tree import FunctionNode

_MAX_HOPS = 6
_TAPE_GIVES = frozenset({"batch_jacobian", "gradient", "jacobian"})
_KERAS_GIVES = frozenset({"call", "compiled_loss", "compute_loss", "train_step"})
"""Methods that Keras classes inherit, or call by `super()`, and that give back tensors."""
_COMPUTES = ("keras.activations.", "keras.losses.", "keras.metrics.")
_SIZES = frozenset({"dtype", "ndim", "shape"})


class Symbolic:
    """Which expressions of traced code are surely symbolic tensors, or hold one."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._classes = tf.classes
        self._members = tf.members
        self._flow = tf.flow
        self._values = tf.values
        self._tracing = tf.tracing
        self._tensors = tf.tensors

    def is_symbolic(self, node: ast.expr, hops: int = _MAX_HOPS) -> bool:
        """Whether an expression is surely a symbolic tensor, or a list or dict that holds one."""
        if hops == 0 or self._values.of(node).kind not in (Kind.UNKNOWN, Kind.TENSOR, Kind.LIST):
            return False
        if isinstance(node, ast.Name):
            found = self._bindings.reaching(node)
            traced = bool(found) and all(map(self._is_in_graph, found))
            if not traced or any(self._is_variable(each) for each in found):
                return False
            return self._tensors.is_tensor(node) or all(self._bound(each, hops) for each in found)
        if isinstance(node, ast.Call):
            return self._called(node, hops)
        several: list[ast.expr | None] = []
        if isinstance(node, (ast.List, ast.Set, ast.Tuple)):
            several = [*node.elts]
        elif isinstance(node, ast.Dict):
            several = [*node.values]
        elif isinstance(node, ast.BinOp):
            several = [node.left, node.right]
        elif isinstance(node, ast.IfExp):
            return self.is_symbolic(node.body, hops) and self.is_symbolic(node.orelse, hops)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            several = [node.elt]
        elif isinstance(node, (ast.NamedExpr, ast.Starred)):
            several = [node.value]
        elif isinstance(node, ast.UnaryOp):
            several = [node.operand]
        elif isinstance(node, ast.Subscript):
            sized = isinstance(node.value, ast.Attribute) and node.value.attr in _SIZES
            several = [] if sized else [node.value]
        return any(each is not None and self.is_symbolic(each, hops) for each in several)

    def _is_in_graph(self, binding: Binding) -> bool:
        if binding.how is How.PARAMETER:
            return self._tree.taker(binding.node) in self._tracing.functions
        return self._tracing.why(binding.node) is not None

    def _is_variable(self, binding: Binding) -> bool:
        return self._values.bound(binding).kind is Kind.VARIABLE

    def _bound(self, binding: Binding, hops: int) -> bool:
        if binding.how is How.PARAMETER:
            return self._given(binding, hops)
        if binding.how in (How.ASSIGNED, How.AUGMENTED) and binding.value is not None:
            return self.is_symbolic(binding.value, hops - 1)
        return False

    def _given(self, binding: Binding, hops: int) -> bool:
        """Whether a parameter of a traced function is given tensors, whoever calls it."""
        function = self._tree.taker(binding.node)
        why = self._tracing.functions.get(function)
        if why is None:
            return False
        if why.by is TracedBy.CALLER:
            given = self._callers.given_for(binding)
            return bool(given) and all(
                each is not None and self.is_symbolic(each, hops - 1) for each in given
            )
        return _takes_tensor(function, binding, why)

    def _called(self, call: ast.Call, hops: int) -> bool:
        """Whether a call gives back what was computed: by TensorFlow, a layer, a loss, a tape."""
        if self._values.of(call).kind is Kind.TENSOR:
            return True
        callee = call.func
        name = self._names.qualified(callee)
        if name is not None:
            return name.startswith(_COMPUTES) and name.rpartition(".")[2].islower()
        if self._is_computing(callee):
            return True
        if isinstance(callee, ast.Attribute):
            if callee.attr == "ref":
                return self.is_symbolic(callee.value, hops)
            if callee.attr in _TAPE_GIVES and self._is_tape(callee.value):
                return True
            if callee.attr in _KERAS_GIVES and self._is_keras(callee.value):
                return True
        function = self._functions.function(callee)
        returned = () if function is None else self._bodies.returns(function)
        return bool(returned) and all(self.is_symbolic(each, hops - 1) for each in returned)

    def _is_computing(self, callee: ast.expr) -> bool:
        """Whether what is called is a layer, a model, or an instance of one of Keras's losses."""
        if self._values.of(callee).kind in (Kind.LAYER, Kind.MODEL):
            return True
        owner = self._functions.instance_of(callee)
        if owner is not None:
            return self._classes.is_keras(owner)
        made = [callee, *(each.value for each in self._flow.origins(callee) or ())]
        makers = [each.func for each in made if isinstance(each, ast.Call)]
        return bool(makers) and all(
            (self._names.qualified(each) or "").startswith("keras.losses.") for each in makers
        )

    def _is_tape(self, expression: ast.expr) -> bool:
        binding = self._bindings.only(expression)
        opened = binding.value if binding is not None and binding.how is How.ENTERED else None
        return (
            isinstance(opened, ast.Call)
            and self._names.qualified(opened.func) == "tensorflow.GradientTape"
        )

    def _is_keras(self, expression: ast.expr) -> bool:
        """Whether an expression is `self` or `super()` of a Keras class."""
        owner = self._functions.instance_of(expression)
        if isinstance(expression, ast.Call) and getattr(expression.func, "id", "") == "super":
            owner = self._members.enclosing_class(expression)
        return owner is not None and self._classes.is_keras(owner)


def _takes_tensor(function: FunctionNode, binding: Binding, why: Traced) -> bool:
    """Whether who has a function traced surely passes tensors for a parameter."""
    if why.by is TracedBy.DATASET:
        return True
    if why.by is TracedBy.KERAS:
        return function.args.args[1:2] == [binding.node]
    return isinstance(why.at, ast.Call) and any(
        each.arg == "input_signature" for each in why.at.keywords
    )
