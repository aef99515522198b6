"""What a pipeline does for an element that could be done while the last one is used."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.sure_words import ELEMENT_METHODS
from tfmemlint.facts.pipelines.chains import Chain, From, Step
from tfmemlint.facts.syntax.tree import FunctionNode

_QUICK_STEPS = frozenset({"filter", "flat_map", "interleave", "map"})
_WORKS = frozenset({"filter", "flat_map", "group_by_window", "interleave", "map", "scan"})
_QUICK = (
    "keras.applications.",
    "keras.utils.to_categorical",
    "numpy.",
    "tensorflow.",
)
"""Where functions stand that go over an element once, which takes no time beside a step."""
_SLOW = (
    "keras.applications.",
    "tensorflow.audio.",
    "tensorflow.image.",
    "tensorflow.io.decode_and_crop_jpeg",
    "tensorflow.io.decode_bmp",
    "tensorflow.io.decode_gif",
    "tensorflow.io.decode_image",
    "tensorflow.io.decode_jpeg",
    "tensorflow.io.decode_png",
    "tensorflow.io.read_file",
    "tensorflow.linalg.",
    "tensorflow.map_fn",
    "tensorflow.numpy_function",
    "tensorflow.py_func",
    "tensorflow.raw_ops.",
    "tensorflow.signal.",
    "tensorflow.vectorized_map",
    "tensorflow.while_loop",
)
"""Among them those that read files, decode or resize pictures and sounds, or run Python.

Records, their fields, lines of a table and words are taken apart in no time beside a step.
"""
_OF_WORDS = frozenset(
    f"keras.layers.{name}" for name in ("IntegerLookup", "StringLookup", "TextVectorization")
)
"""Layers that make numbers of words."""
_QUICK_AFTER_ALL = ("tensorflow.image.convert_image_dtype",)
_PREPARES = ".preprocess_input"
_OF_TENSORS = (ELEMENT_METHODS - {"as_list"}) | {"bounding_shape", "skip", "update"}
"""Methods of what an element is, or of the lines of one file."""
_BUILT_IN = frozenset(dir(builtins))
_FUNCTIONS = ("map_func", "predicate")
_MOST = 12
"""Functions that are followed from one to the next."""


class Overlaps:
    """The work that pipelines do for each element they give."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._values = tf.values

    def works(self, chain: Chain) -> bool:
        """Whether elements are read, decoded or made at length, not but cut from what is there."""
        for step in reversed(chain.steps):
            if step.method in _WORKS and not self._is_quick(step):
                return True
            if step.method == "cache":
                return not step.caches_in_memory
        return chain.source.kind is From.GENERATOR or any(map(self.works, chain.source.parts))

    def may_be_work(self, chain: Chain) -> bool:
        """Whether any step reads files, makes pictures or sounds, or runs Python.

        Or does who knows what, as its function is out of sight.
        """
        works = [step for step in chain.steps if step.method in _WORKS]
        if not all(map(self._is_in_sight, works)):
            return True
        called = (self._names.qualified(each) for step in works for each in self._reached(step))
        here = any(name is not None and _is_slow(name) for name in called)
        return here or any(map(self.may_be_work, chain.source.parts))

    def _is_in_sight(self, step: Step) -> bool:
        """Whether anything is known of the function that a step is given."""
        given = next(filter(None, map(step.argument, _FUNCTIONS)), None)
        if given is None or self._names.qualified(given) is not None or self._is_of_words(given):
            return True
        return bool(self._functions.definitions(given)) or isinstance(given, ast.Lambda)

    def _is_quick(self, step: Step) -> bool:
        """Whether all that a function does with an element is to go over it, as to cast it."""
        given = any(map(step.argument, _FUNCTIONS)) and step.method in _QUICK_STEPS
        return given and all(map(self._is_quick_call, self._reached(step)))

    def _reached(self, step: Step) -> Iterator[ast.expr]:
        """What the function that a step is given calls in the end, by way of others in sight."""
        given = next(filter(None, map(step.argument, _FUNCTIONS)), None)
        pending = [] if given is None else [self._bindings.assigned(given) or given]
        seen = set[FunctionNode]()
        for each in pending:
            function = each if isinstance(each, FunctionNode) else self._functions.function(each)
            if function is None or len(seen) == _MOST:
                yield each
            elif function not in seen:
                seen.add(function)
                pending += self._called(function)

    def _called(self, function: FunctionNode) -> Iterator[ast.expr]:
        """What a function calls."""
        nodes = self._bodies.body(function)
        return (each.func for each in nodes if isinstance(each, ast.Call))

    def _is_quick_call(self, callee: ast.expr) -> bool:
        name = self._names.qualified(callee)
        if name is None:
            if isinstance(callee, ast.Attribute) and callee.attr in _OF_TENSORS:
                return True
            is_built_in = isinstance(callee, ast.Name) and callee.id in _BUILT_IN
            return is_built_in or self._is_of_words(callee)
        return _passes(name) or (name.startswith(_QUICK) and not _is_slow(name))

    def _is_of_words(self, callee: ast.expr) -> bool:
        """Whether it is a layer that looks up words which is called."""
        return self._names.called(self._values.of(callee).origin) in _OF_WORDS


def _passes(name: str) -> bool:
    return name.endswith(_PREPARES) or name in _QUICK_AFTER_ALL


def _is_slow(name: str) -> bool:
    return name.startswith(_SLOW) and not _passes(name)
