"""Passes of arrays through models: `model(x)`, made by code itself or by the functions it calls."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.treated import Treated
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.classes import KERAS_MODELS
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import NamedTuple

_MAX_HOPS = 10
_EXPANDS = frozenset({"numpy.expand_dims", "tensorflow.expand_dims"})
_IMAGES = frozenset({"keras.utils.img_to_array"})
_DATA = ("inputs", "input_ids", "x", None)
"""What models call what they are given; all of it, where that is told with `**`."""
_INPUTS = frozenset({"keras.Input"})


class Pass(NamedTuple):
    """One array on its way through a model."""

    call: ast.Call
    array: ast.expr
    frame: Frame | None
    """The call in which to read `array`; None where the code at hand makes the pass itself."""

    @property
    def functions(self) -> tuple[FunctionNode, ...]:
        """The functions entered on the way to the pass, outermost first."""
        frame, found = self.frame, list[FunctionNode]()
        while frame is not None:
            found.append(frame.function)
            frame = frame.outer
        return tuple(reversed(found))


class Passes:
    """Where the arrays of a file go through models."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._callers = tf.callers
        self._classes = tf.classes
        self._flow = tf.flow
        self._sources = tf.sources
        self._values = tf.values
        self._tapes = tf.tapes
        self._annotations = tf.annotations
        self._treated = tf.of(Treated)

    @cached_property
    def may_be_any(self) -> bool:
        """Whether the file makes a model, treats something as one, or records what may be one."""
        if self._tapes.all or self._treated.any or self._names.mentions(makers.MODELS):
            return True
        if self._names.may_use(("keras.applications",)):
            return True
        return any(map(self._classes.is_keras, self._tree.all(ast.ClassDef)))

    def is_model(self, callee: ast.expr, frame: Frame | None = None) -> bool:
        """Whether an expression is surely a Keras model, which has `predict`, not a mere layer."""
        owner = self._functions.instance_of(callee)
        value = self._values.of(callee, frame)
        if owner is None and value.kind is Kind.MODEL and isinstance(value.origin, ast.Call):
            made = self._functions.definition(value.origin.func)
            if not isinstance(made, ast.ClassDef):
                return True
            owner = made
        if owner is not None:
            return self._classes.is_model(owner)
        if value.kind is not Kind.UNKNOWN:
            return False
        if self._is_said(callee) or self._treated.is_model(callee) or self._is_made_instead(callee):
            return True
        if self._is_one_way(callee):
            return True
        known = (*self._wired, *self._shown_images)
        return any(each is callee or self._treated.is_same(each, callee) for each in known)

    def _is_made_instead(self, callee: ast.expr) -> bool:
        """Whether a function makes a model itself where it is given none: what it is given is one.

        Unless a caller gives it something else.
        """
        if not isinstance(callee, ast.Name):
            return False
        bindings = self._bindings.reaching(callee)
        given = [each for each in bindings if each.how is How.PARAMETER]
        made = [each.value for each in bindings if each.is_whole]
        if len(given) != 1 or not made or len(given) + len(made) != len(bindings):
            return False
        if not all(each and self._values.of(each).kind is Kind.MODEL for each in made):
            return False
        told = self._callers.given_for(given[0])
        return all(each is None or self._treated.may_be_model(each) for each in told)

    def _is_one_way(self, callee: ast.expr) -> bool:
        """Whether one of the ways to a value is by a model, and none is by something else."""
        return self._treated.may_be_model(callee) and any(
            not each.path
            and isinstance(each.node, ast.expr)
            and self._values.of(each.node, each.frame).kind is Kind.MODEL
            for each in self._sources.of(callee).found
        )

    def _is_said(self, callee: ast.expr) -> bool:
        """Whether an annotation says that something is a model, or Keras sets it in a callback."""
        for each in self._flow.same(callee):
            if isinstance(each, ast.Attribute) and each.attr == "model":
                owner = self._functions.instance_of(each.value)
                if owner is not None and self._classes.is_callback(owner):
                    return True
        said = self._annotations.of(callee)
        classes = [self._functions.definition(each) for each in said]
        return bool(said) and all(
            self._classes.is_model(owner)
            if isinstance(owner, ast.ClassDef)
            else self._names.is_any(each, KERAS_MODELS)
            for each, owner in zip(said, classes, strict=True)
        )

    @cached_property
    def _wired(self) -> tuple[ast.expr, ...]:
        """What is called with Keras's symbolic input, as layers and models are, and predicts."""
        if not self._names.mentions(_INPUTS):
            return ()
        asked = [method.value for _, method in self._tree.methods("predict")]
        wired = [
            call.func
            for call in self._tree.all(ast.Call)
            if any(self._treated.is_same(each, call.func) for each in asked)
            and self._is_given_input(call)
        ]
        return tuple(
            each for each in asked if any(self._treated.is_same(each, one) for one in wired)
        )

    @cached_property
    def _shown_images(self) -> tuple[ast.expr, ...]:
        """What predicts a batch of one image, of four axes: scikit-learn's take two."""
        if not self._names.mentions(_IMAGES):
            return ()
        asked = [(call, method.value) for call, method in self._tree.methods("predict")]
        return tuple(each for call, each in asked if call.args and self._is_one_image(call.args[0]))

    def _is_one_image(self, given: ast.expr) -> bool:
        """Whether an image gets an axis for the batch: `np.expand_dims(img_to_array(x), 0)`."""
        for each in (given, *(origin.value for origin in self._flow.origins(given) or ())):
            if not isinstance(each, ast.Call) or not self._names.is_any(each.func, _EXPANDS):
                continue
            image = each.args[0] if each.args else None
            axis = makers.argument(each, 1, "axis")
            if image is None or axis is None or self._values.number(axis) != 0:
                continue
            if self._is_image(image):
                return True
        return False

    def _is_image(self, node: ast.expr, hops: int = 4) -> bool:
        """Whether something may be an image that Keras made an array of, scaled or not."""
        if isinstance(node, ast.Call) and self._names.is_any(node.func, _IMAGES):
            return True
        inner = self.converted(node) if hops else None
        made = [inner] if inner is not None else []
        if hops and isinstance(node, ast.Name):
            made += [each.value for each in self._flow.origins(node) or ()]
        return any(self._is_image(each, hops - 1) for each in made)

    def _is_given_input(self, call: ast.Call) -> bool:
        """Whether a call is given a symbolic input, and nothing else."""
        given = self._flow.origins(call.args[0]) if len(call.args) == 1 else None
        return bool(given) and all(
            isinstance(each.value, ast.Call) and self._names.is_any(each.value.func, _INPUTS)
            for each in given or ()
        )

    def of(self, node: ast.AST, frame: Frame | None = None) -> Pass | None:
        """The pass that a call makes, if it calls a model with one array and nothing else."""
        if not isinstance(node, ast.Call):
            return None
        given = [each for each in node.args if not isinstance(each, ast.Constant)]
        given += [each.value for each in node.keywords if each.arg in _DATA]
        if len(given) != 1:
            return None
        if self._names.qualified(node.func) is not None:  # a library's function, no object
            return None
        is_model = self._values.of(node.func, frame).kind is Kind.MODEL
        if not is_model and not self._is_model_here(node):
            return None
        if not self._values.of(given[0], frame).is_array:
            return None
        return Pass(node, given[0], frame)

    def below(self, call: ast.Call, outer: Frame | None = None) -> Iterator[Pass]:
        """The passes that the function run by a call makes of arrays the call gives it.

        Made by the functions it calls in turn, too.
        """
        given = makers.given_to(call)
        if not any(self._values.of(each, outer).is_array for each in given):
            return
        frame = self._flow.enter(call, outer)
        if frame is None:
            return
        for node in self._bodies.body(frame.function):
            found = self.of(node, frame)
            if found is not None:
                yield found
            elif isinstance(node, ast.Call):
                yield from self.below(node, frame)

    def argument(self, found: Pass, call: ast.Call) -> ast.expr | None:
        """The argument of `call` that a pass below it is made of, whatever it is called there."""
        given = makers.given_to(call)
        node, frame = found.array, found.frame
        for _ in range(_MAX_HOPS):
            if node in given:
                return node
            kept = self.converted(node, frame) or self._reshaped(node)
            if kept is not None:
                node = kept
                continue
            before = self._flow.one_before(node, frame)
            if before is None:
                return None
            node, frame = before.value, before.frame
        return None

    def converted(self, node: ast.expr, frame: Frame | None = None) -> ast.expr | None:
        """The array that an expression gives another type or scale, row by row: `x / 255`."""
        if isinstance(node, ast.Call):
            if self._names.qualified(node.func) in makers.KEEPS_SHAPE:
                name = self._names.qualified(node.func) or ""
                return makers.argument(node, 0, makers.KEEPS_DATA[name])
            if isinstance(node.func, ast.Attribute) and node.func.attr == "astype":
                return node.func.value
        if isinstance(node, ast.BinOp):
            if self._values.of(node.right, frame).kind is Kind.NUMBER:
                return node.left
            if self._values.of(node.left, frame).kind is Kind.NUMBER:
                return node.right
        return None

    def gives_output(self, call: ast.Call, outer: Frame | None = None) -> bool:
        """Whether a call gives back what a model made of an array, be it with other things."""
        for returned in self._flow.returned(call, outer):
            value = returned.value
            for each in value.elts if isinstance(value, (ast.Tuple, ast.List)) else [value]:
                origins = self._flow.origins(each, returned.frame) or ()
                made = [each, *(origin.value for origin in origins)]
                for node in made:
                    if self.of(node, returned.frame) is not None:
                        return True
                    if isinstance(node, ast.Call) and self.gives_output(node, returned.frame):
                        return True
        return False

    def _reshaped(self, node: ast.expr) -> ast.expr | None:
        if not isinstance(node, ast.Call):
            return None
        keyword = makers.KEEPS_DATA.get(self._names.qualified(node.func) or "")
        if keyword is not None:
            return makers.argument(node, 0, keyword)
        is_method = isinstance(node.func, ast.Attribute) and node.func.attr in makers.ARRAY_METHODS
        return node.func.value if is_method and isinstance(node.func, ast.Attribute) else None

    def _is_model_here(self, call: ast.Call) -> bool:
        """Whether what is called can only be a model: compiled, or called while a tape records."""
        callee = call.func
        owner = self._functions.instance_of(callee)
        if owner is not None:
            return self._classes.is_keras(owner)
        if self._treated.is_model(callee):
            return True
        if not self._tapes.all:
            return False
        if self._names.qualified(callee) or self._functions.definition(callee):
            return False
        if isinstance(callee, ast.Name):
            known = bool(self._bindings.reaching(callee))
        else:
            base = callee.value if isinstance(callee, ast.Attribute) else None
            known = base is not None and self._functions.instance_of(base) is not None
        return known and len(call.args) == 1 and bool(self._tapes.recording(call))
