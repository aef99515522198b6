"""What code says of the elements of its pipelines: signatures, and the sizes of images."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.features import dtype_of
from tfmemlint.facts.pipelines.held import UNKNOWN, Held, Several, Tensor, part_of, row
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.facts.syntax.tracers import TF_FUNCTION
from tfmemlint.facts.syntax.tree import FunctionNode, positional

_SPECS = frozenset({"tensorflow.TensorSpec", "keras.Input", "keras.KerasTensor"})
_IMAGES = ".image_dataset_from_directory"
_SIDE = 256
"""Pixels, to which Keras resizes images if it is not told otherwise."""
_CHANNELS = {"grayscale": 1, "rgb": 3, "rgba": 4}
_LABELS = {"int": Tensor("int32", (None,)), "binary": Tensor("float32", (None, 1))}


class Specs:
    """Elements as code declares them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._flow = tf.flow
        self._values = tf.values

    def of_generator(self, made: ast.Call) -> Held:
        """What `from_generator` is told of its elements."""
        signature = argument(made, None, "output_signature")
        if signature is not None:
            return self.of(signature)
        types = argument(made, 1, "output_types")
        if types is None:
            return UNKNOWN
        told = self._typed(types, argument(made, 2, "output_shapes"))
        generator = self.generator(argument(made, 0, "generator"))
        yielded = self._bodies.yields(generator) if generator is not None else ()
        return self._sized(told, yielded) if yielded else told

    def generator(self, given: ast.expr | None) -> FunctionNode | None:
        """The function that makes the elements, be it what an object is called by."""
        if given is None:
            return None
        owner = self._functions.instance_of(given)
        if owner is not None:
            return self._functions.method(owner, "__call__")
        return self._functions.function(given)

    def _sized(self, told: Held, yielded: tuple[ast.expr, ...]) -> Held:
        """Elements of known types, of the shapes that everything has that is given there."""
        if isinstance(told, Several):
            rows = [each.elts for each in yielded if isinstance(each, (ast.Tuple, ast.List))]
            if len(rows) < len(yielded) or any(len(each) != len(told.parts) for each in rows):
                return told
            columns = zip(told.parts, zip(*rows, strict=True), strict=True)
            return Several(tuple((key, self._sized(part, given)) for (key, part), given in columns))
        found = [self._values.of(each) for each in yielded]
        if told.shape is not None or not all(each.is_array for each in found):
            return told
        shapes = {each.shape for each in found}
        shape = shapes.pop() if len(shapes) == 1 else None
        return told if shape is None or None in shape else told._replace(shape=shape)

    def of(self, signature: ast.expr) -> Held:
        """What a signature says: specs, in tuples and dictionaries."""
        if isinstance(signature, ast.Name):
            value = self._meant(signature)
            return UNKNOWN if isinstance(value, ast.Name) else self.of(value)
        if isinstance(signature, (ast.Tuple, ast.List)):
            return row(map(self.of, signature.elts))
        if isinstance(signature, ast.Dict):
            keys = [
                each.value if isinstance(each, ast.Constant) else None for each in signature.keys
            ]
            named = [key if isinstance(key, str) else None for key in keys]
            return Several(tuple(zip(named, map(self.of, signature.values), strict=True)))
        if isinstance(signature, ast.Call) and self._names.is_any(signature.func, _SPECS):
            given = argument(signature, 1, "dtype")
            dtype = "float32" if given is None else dtype_of(given, self._values)
            return Tensor(dtype, self._values.shape(argument(signature, 0, "shape")))
        return UNKNOWN

    def _meant(self, named: ast.expr) -> ast.expr:
        """What a name stands for, if that is one expression."""
        return self._flow.meant(named) if isinstance(named, ast.Name) else named

    def of_directory(self, made: ast.Call) -> Held:
        """The images that a reader gives, and their labels: with the axis of the batch, if any."""
        name = self._names.qualified(made.func) or ""
        if not name.endswith(_IMAGES):
            return UNKNOWN
        size = argument(made, None, "image_size")
        sides = (_SIDE, _SIDE) if size is None else self._values.shape(size) or (None, None)
        mode = argument(made, None, "color_mode")
        channels = _CHANNELS.get(str(mode.value)) if isinstance(mode, ast.Constant) else 3
        batch = argument(made, None, "batch_size")
        single = is_none(batch)
        shape = (*sides, channels) if single else (None, *sides, channels)
        image = Tensor("float32", shape, is_image=True)
        kind = argument(made, None, "label_mode")
        told = kind.value if isinstance(kind, ast.Constant) else "int"
        if any(each is not None and is_none(each) for each in (kind, argument(made, 1, "labels"))):
            return image
        label = _LABELS.get(str(told), UNKNOWN)
        return row((image, label._replace(shape=label.shape and label.shape[single:])))

    def _typed(self, types: ast.expr, shapes: ast.expr | None) -> Held:
        types, shapes = self._meant(types), None if shapes is None else self._meant(shapes)
        if isinstance(types, (ast.Tuple, ast.List)):
            each = shapes.elts if isinstance(shapes, (ast.Tuple, ast.List)) else []
            given = [*each, *[None] * (len(types.elts) - len(each))]
            pairs = zip(types.elts, given, strict=False)
            return row(self._typed(one, shape) for one, shape in pairs)
        shape = None if shapes is None else self._shape(shapes)
        return Tensor(dtype_of(types, self._values), shape)

    def _shape(self, node: ast.expr) -> tuple[int | None, ...] | None:
        if isinstance(node, ast.Call) and node.args:  # `tf.TensorShape([None, 3])`
            node = node.args[0]
        return self._values.shape(node)


class Signatures:
    """What the signatures of traced functions say of their parameters."""

    def __init__(self, tf: TensorFlow) -> None:
        self._bindings = tf.bindings
        self._members = tf.members
        self._names = tf.names
        self._tree = tf.tree
        self._specs = tf.of(Specs)

    def of(self, name: ast.Name) -> Tensor | None:
        """The parameter that a name is, as `tf.function(input_signature=...)` has it."""
        binding = self._bindings.only(name)
        if binding is None or binding.how is not How.PARAMETER:
            return None
        function = self._tree.taker(binding.node)
        if not isinstance(function, ast.FunctionDef):
            return None
        taken = positional(function)[self._members.binds_first(function) :]
        places = [each.arg for each in taken]
        for each in function.decorator_list:
            if not (isinstance(each, ast.Call) and self._names.is_any(each.func, TF_FUNCTION)):
                continue
            signature = argument(each, 1, "input_signature")
            if signature is not None and binding.name in places:
                found = part_of(self._specs.of(signature), places.index(binding.name))
                return found if isinstance(found, Tensor) and found.times > 0 else None
        return None
