"""Pictures: what a game shows or a camera sees, how many bytes a pixel has, how many it holds."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from functools import cached_property
from itertools import chain

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.paths import ANY, End, is_entry
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.library.makers import DTYPE_BYTES, argument
from tfmemlint.facts.library.reading import PAIRS
from tfmemlint.facts.library.shapes import is_rest, total
from tfmemlint.facts.syntax.arithmetic import as_count
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import is_none
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint_rules._analyses.shown import Shown

if TYPE_CHECKING:
    from typing import ClassVar


_SMALLEST_SIDE = 16
"""Pixels: what is smaller is the board of a game, or a matrix."""
_LONGEST_SIDE = 1 << 31
_OF_BYTES = range(127, 257)
"""What the bytes of pixels are divided by."""
_AXES = 3
"""Axes that are indexed in pictures alone, of all that environments show."""


_BLANK = frozenset(
    f"numpy.{name}" for name in ("empty", "empty_like", "ones", "zeros", "zeros_like")
)
_SIZES = ("size", "dsize", "output_shape")
DEQUE = frozenset({"collections.deque"})
_LISTS = frozenset(
    {
        "numpy.array",
        "numpy.asarray",
        "tensorflow.constant",
        "tensorflow.convert_to_tensor",
    }
)
_STACKS = _LISTS | {
    "numpy.append",
    "numpy.concatenate",
    "numpy.dstack",
    "numpy.stack",
    "tensorflow.concat",
    "tensorflow.stack",
}
_KEEPING_METHODS = frozenset(
    {"clip", "convert", "copy", "crop", "flatten", "numpy", "ravel", "reshape", "resize", "squeeze"}
    | {"swapaxes", "transpose"}
)
_GRAYS = {"max": None, "mean": "float64", "min": None, "sum": "uint64"}
"""Methods that make one number of the colors of a pixel, and of what type."""
_IN_ANOTHER_SHAPE = frozenset(
    f"numpy.{name}"
    for name in """abs ascontiguousarray clip copy expand_dims flip fliplr flipud moveaxis pad ravel
    reshape roll rollaxis rot90 squeeze swapaxes transpose""".split()  # noqa: SIM905
) | {f"tensorflow.{name}" for name in ("expand_dims", "reshape", "squeeze", "transpose")}
_DECODES = frozenset(
    {
        "PIL.Image.fromarray",
        "PIL.Image.open",
        "cv2.imdecode",
        "cv2.imread",
        "imageio.imread",
        "scipy.misc.imresize",
        "tensorflow.io.decode_jpeg",
        "tensorflow.io.decode_png",
    }
)
_OF_PICTURES = (_DECODES | PAIRS) | {
    "cv2.cvtColor",
    "cv2.resize",
    "keras.utils.img_to_array",
    "numpy.uint8",
    "skimage.color.rgb2gray",
    "skimage.transform.resize",
    "tensorflow.image.resize",
    "tensorflow.image.rgb_to_grayscale",
}


def _cast_to(dtype: str) -> Callable[..., Picture]:
    """What makes of a picture the same in another dtype."""

    def cast(_: Pictures, __: ast.Call, whole: Picture, ___: Frame | None) -> Picture:
        return whole._replace(dtype=dtype, is_lazy=False)

    return cast


class Sort(IntEnum):
    """What an expression surely gives."""

    UNKNOWN = 0
    OTHER = 1
    """A number, a vector, anything that is no picture."""
    SHOWN = 2
    """What an environment shows: a picture, or a few numbers."""
    PICTURE = 3


class Picture(NamedTuple):
    """What is known of a value that may be a picture."""

    sort: Sort
    dtype: str | None = None
    dims: tuple[int | None, ...] | None = None
    frames: int | None = 1
    """How many pictures one behind the other, of which the next value holds all but one again."""
    is_lazy: bool = False
    """Whether they are put together when they are read, and not before."""
    surely: bool = True
    """Whether all that may give it its value is known."""

    @property
    def width(self) -> int | None:
        """Bytes of a number."""
        return DTYPE_BYTES.get(self.dtype or "")

    @property
    def numbers(self) -> int | None:
        """How many numbers it holds."""
        return total(self.dims) if self.dims else None

    @property
    def is_stacked(self) -> bool:
        """Whether each frame is in several of them."""
        return self.frames != 1 and not self.is_lazy


UNKNOWN, OTHER = Picture(Sort.UNKNOWN, surely=False), Picture(Sort.OTHER)
_UNDECIDED = Picture(Sort.UNKNOWN, "undecided")
_PICTURE = Question("picture", _UNDECIDED, UNKNOWN)
_ELEMENT = Question("picture in a list", _UNDECIDED, UNKNOWN)


class Pictures:
    """Pictures of a file, followed backwards to what shows them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._imports = tf.imports
        self._bindings = tf.bindings
        self._bodies = tf.bodies
        self._members = tf.members
        self._sources = tf.sources
        self._arrays = tf.arrays
        self._values = tf.values
        self._solver = tf.solver
        self._shown = Shown(tf)

    @cached_property
    def are_there(self) -> bool:
        """Whether anything in the file, or in those that import it, shows or makes pictures."""
        here = (self._tree, self._names)
        others = ((each.tree, each.names) for each in self._imports.importers)
        return any(
            next(tree.methods("render", "reset", "step"), None) is not None
            or names.mentions(_OF_PICTURES)
            for tree, names in chain([here], others)
        )

    def of(self, node: ast.expr, frame: Frame | None = None) -> Picture:
        """What an expression gives."""
        found: Picture = self._solver.ask(_PICTURE, self._joined, node, frame)
        return UNKNOWN if found is _UNDECIDED else found

    def made(self, node: ast.expr, frame: Frame | None = None) -> frozenset[ast.AST]:
        """The code that makes it, wherever that stands."""
        return frozenset(each.node for each in self._sources.of(node, frame).found)

    def _joined(self, node: ast.expr, frame: Frame | None) -> Picture:
        ends = self._sources.of(node, frame)
        found = _any_of([self._of_end(each) for each in ends.found if not is_none(each.node)])
        if found is _UNDECIDED and any(self._is_blank(each.node) for each in ends.found):
            found = self._filled(node, frame)
        return found if ends.complete else found._replace(surely=False)

    def _is_blank(self, node: ast.AST) -> bool:
        return self._names.call_of(node, _BLANK) is not None

    def _filled(self, node: ast.expr, frame: Frame | None) -> Picture:
        """An array that pictures are put into, one after the other, the last few at a time."""
        each = self._elements(node, frame)
        blanks = [end for end in self._sources.of(node, frame).found if self._is_blank(end.node)]
        blank = blanks[0] if blanks else None
        if each.sort is not Sort.PICTURE or blank is None or not isinstance(blank.node, ast.Call):
            return _UNDECIDED
        sized = self._arrays.of(blank.node, blank.frame)
        if sized is None or sized.dims is None or len(sized.dims) <= len(each.dims or ()):
            return _UNDECIDED
        dims = tuple(as_count(size.value) for size in sized.dims)
        return Picture(Sort.PICTURE, sized.dtype, dims, dims[0], surely=False)

    def _elements(self, node: ast.expr, frame: Frame | None) -> Picture:
        """What each element of a list is."""
        found: Picture = self._solver.ask(_ELEMENT, self._listed, node, frame)
        return found

    def _listed(self, node: ast.expr, frame: Frame | None) -> Picture:
        ends = self._sources.of(node, frame, (ANY,))
        return _any_of([self._of_end(each) for each in ends.found if not is_none(each.node)])

    def _ask(self, node: ast.expr, frame: Frame | None) -> Picture:
        found: Picture = self._solver.ask(_PICTURE, self._joined, node, frame)
        return found

    def _of_end(self, end: End) -> Picture:
        node, path, frame = end
        if path == (".T",) and isinstance(node, ast.expr):
            return self._ask(node, frame)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            shown = self._of_environment(node, node.func, end)
            if shown is not None:
                return shown
        if isinstance(node, ast.Call) and path == ((1,),) and node.args:
            is_pair = self._names.is_any(node.func, PAIRS)
            return self._ask(node.args[0], frame) if is_pair else UNKNOWN
        if path:
            return self._entry(end)
        if isinstance(node, ast.Call):
            return self._called(node, frame)
        if isinstance(node, ast.Subscript):
            return self._cut(node, self._ask(node.value, frame))
        if isinstance(node, ast.BinOp):
            return self._calculated(node, frame)
        if isinstance(node, ast.UnaryOp):
            return self._ask(node.operand, frame)
        if isinstance(node, ast.Compare):
            return self._ask(node.left, frame)._replace(dtype="bool")
        if isinstance(node, ast.Name):
            return self._parameter(node)
        return OTHER if isinstance(node, (ast.Constant, ast.Dict)) else UNKNOWN

    def _parameter(self, node: ast.Name) -> Picture:
        """What nobody here gives: a wrapper's `observation(self, it)` is given what is shown."""
        binding = self._bindings.only(node)
        function = self._tree.function(node)
        is_given = binding is not None and binding.how is How.PARAMETER
        if not is_given or not isinstance(function, ast.FunctionDef):
            return UNKNOWN
        is_method = self._members.class_of(function) is not None
        shown = is_method and function.name == "observation"
        return Picture(Sort.SHOWN, surely=False) if shown else UNKNOWN

    def _entry(self, end: End) -> Picture:
        """One element of an array: a picture of several, a row of a picture."""
        if len(end.path) != 1 or not is_entry(end.path[0]) or not isinstance(end.node, ast.expr):
            return UNKNOWN
        whole = self._ask(end.node, end.frame)
        left = None if whole.dims is None else whole.dims[1:]
        if whole.sort is not Sort.PICTURE or left is None:
            return UNKNOWN
        return whole._replace(dims=left, frames=1) if len(left) > 1 else OTHER

    def _cut(self, node: ast.Subscript, whole: Picture) -> Picture:
        """A part of a picture, its channels or its middle."""
        if whole.sort < Sort.SHOWN:
            return whole
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        plain = [each for each in indices if not is_none(each) and not is_rest(each)]
        if whole.sort is Sort.SHOWN and len(plain) >= _AXES:
            whole = whole._replace(sort=Sort.PICTURE, dtype=whole.dtype or "uint8")
        if whole.dims is None or len(plain) < len(indices) or len(plain) > len(whole.dims):
            return whole._replace(dims=None)
        cut = [
            self._part(each, size)
            for each, size in zip(indices, whole.dims[: len(indices)], strict=True)
            if isinstance(each, ast.Slice)
        ]
        return whole._replace(dims=(*cut, *whole.dims[len(indices) :]))

    def _part(self, part: ast.Slice, whole: int | None) -> int | None:
        bounds = [self._values.number(each) for each in (part.lower, part.upper, part.step) if each]
        if None in bounds or whole is None:
            return None
        given = iter(bounds)
        ends = [next(given) if each else None for each in (part.lower, part.upper, part.step)]
        numbers = [as_count(each) for each in ends]
        if numbers[2] == 0 or whole > _LONGEST_SIDE:
            return None
        return len(range(whole)[slice(*numbers)])

    def _calculated(self, node: ast.BinOp, frame: Frame | None) -> Picture:
        left, right = self._ask(node.left, frame), self._ask(node.right, frame)
        if _UNDECIDED in (left, right):
            return _UNDECIDED
        if isinstance(node.op, ast.MatMult):
            return UNKNOWN
        if left.sort < Sort.SHOWN:
            left, other, by = right, left, node.left
        else:
            other, by = right, node.right
        if left.sort < Sort.SHOWN:
            return OTHER if left.sort is other.sort is Sort.OTHER else UNKNOWN
        if other.sort is Sort.PICTURE:
            return left._replace(dtype=_wider(left.dtype, other.dtype), is_lazy=False)
        number = self._values.number(by, frame)
        divides = isinstance(node.op, ast.Div) and by is node.right
        scales = divides or isinstance(node.op, ast.Mult)
        of_bytes = number if divides or not number else 1 / number
        if scales and of_bytes is not None and as_count(of_bytes + 0.5) in _OF_BYTES:
            left = left._replace(sort=Sort.PICTURE, dtype=left.dtype or "uint8")
        dtype = left.dtype
        if dtype is not None and "float" not in dtype and (divides or isinstance(number, float)):
            dtype = "float64"
        return left._replace(dtype=dtype, is_lazy=False)

    # Calls.

    def _of_environment(self, call: ast.Call, method: ast.Attribute, end: End) -> Picture | None:
        """What `env.step(action)` and the like show; None for anything else."""
        if not self._shown.is_asked(method, end.path):
            return None
        found: list[Picture] = []
        for seen in self._shown.by(method.value, end.frame):
            if seen.through is not None:
                inner = [self._ask(each, None) for each in self._bodies.returns(seen.through)]
                found.append(_any_of(inner))
            else:
                sort = Sort.PICTURE if seen.is_picture else Sort.SHOWN
                sort = Sort.OTHER if seen.is_vector else sort
                dtype = seen.dtype if seen.is_picture else None
                lazy = seen.frames != 1
                found.append(Picture(sort, dtype, seen.dims, seen.frames, lazy, seen.is_picture))
        return _any_of(found) if found else Picture(Sort.SHOWN, surely=False)

    def _called(self, node: ast.Call, frame: Frame | None) -> Picture:
        name = self._names.qualified(node.func)
        if name is None and isinstance(node.func, ast.Attribute):
            return self._method(node, node.func, frame)
        given = node.args[0] if node.args else None
        if name is None or given is None:
            return self._array(node, frame)
        if name in _STACKS:
            return self._stacked(node, given, frame, name)
        made = self._made.get(name)
        if made is not None:
            return made(self, node, self._given(given, frame), frame)
        return self._array(node, frame)

    def _given(self, given: ast.expr, frame: Frame | None) -> Picture:
        """What a function is given, be it as a list of one: `np.reshape([state], (1, 84, 84))`."""
        if not isinstance(given, ast.List) or len(given.elts) != 1:
            return self._ask(given, frame)
        alone = self._ask(given.elts[0], frame)
        return alone if alone.dims is None else alone._replace(dims=(1, *alone.dims))

    def _method(self, node: ast.Call, method: ast.Attribute, frame: Frame | None) -> Picture:
        whole = self._ask(method.value, frame)
        array = self._array(node, frame) if whole.sort is not Sort.PICTURE else UNKNOWN
        if array.sort is not Sort.UNKNOWN or whole.sort < Sort.SHOWN:
            return array
        if method.attr == "astype":
            told = self._values.dtype(argument(node, 0, "dtype"))
            return whole._replace(dtype=told, is_lazy=False)
        if method.attr in _KEEPING_METHODS:
            return whole
        if method.attr in _GRAYS and argument(node, 0, "axis") is not None:
            return _gray(whole)._replace(dtype=_GRAYS[method.attr] or whole.dtype)
        return UNKNOWN

    def _array(self, node: ast.Call, frame: Frame | None) -> Picture:
        """What is known of an array by its shape: bytes, of many rows and columns."""
        if self._names.is_any(node.func, _BLANK):
            return _UNDECIDED  # the picture before the first one
        sized = self._arrays.of(node, frame)
        if sized is None or sized.dims is None:
            return UNKNOWN
        dims = tuple(as_count(each.value) for each in sized.dims)
        wide = [each for each in dims if each is None or each >= _SMALLEST_SIDE]
        if sized.dtype == "uint8" and len(wide) > 1 and None not in wide:
            return Picture(Sort.PICTURE, "uint8", dims)
        return OTHER

    def _stacked(self, node: ast.Call, given: ast.expr, frame: Frame | None, name: str) -> Picture:
        """Pictures that are put together: the last few again and again, or several cameras'."""
        alone = self._ask(given, frame)
        if name == "numpy.append" and len(node.args) > 1:
            added = self._ask(node.args[1], frame)
            if alone.sort < Sort.SHOWN and added.sort < Sort.SHOWN:
                return UNKNOWN
            rolled = self._ask(given.value, frame) if isinstance(given, ast.Subscript) else None
            both = _any_of([alone, added])._replace(frames=1, dims=None, is_lazy=False)
            if rolled is None:
                return both
            if rolled.frames in (1, None):
                return both._replace(frames=None)
            return both._replace(frames=rolled.frames, dims=rolled.dims)
        if alone.sort >= Sort.SHOWN:
            return self._told(node, alone._replace(is_lazy=False), name)
        each = self._elements(given, frame)
        if each.sort < (Sort.PICTURE if name in _LISTS else Sort.SHOWN):
            return UNKNOWN
        count, again = self._last_few(given, frame)
        dims = (count, *each.dims) if count is not None and each.dims is not None else None
        frames = count if again else 1
        sort = each.sort
        return self._told(node, Picture(sort, each.dtype, dims, frames, surely=each.surely), name)

    def _told(self, node: ast.Call, found: Picture, name: str) -> Picture:
        told = argument(node, 1 if name in _LISTS else None, "dtype")
        return found if told is None else found._replace(dtype=self._values.dtype(told))

    def _last_few(self, listed: ast.expr, frame: Frame | None) -> tuple[int | None, bool]:
        """How many pictures a list holds, and whether all but one are in the next list, too."""
        if isinstance(listed, (ast.List, ast.Tuple)):
            rolls = any(isinstance(each, ast.Subscript) for each in listed.elts)
            same = len({ast.dump(each) for each in listed.elts}) == 1
            again = rolls or (same and len(listed.elts) > 1)
            return (None if rolls else len(listed.elts)), again
        counts: set[int | None] = set()
        again = False
        for each in self._sources.of(listed, frame).found:
            made = each.node
            if isinstance(made, ast.BinOp) and isinstance(made.op, ast.Mult):
                number = self._values.number(made.right, each.frame)
                counts.add(as_count(number))
                again = True
            elif isinstance(made, ast.Call) and self._names.is_any(made.func, DEQUE):
                told = argument(made, 1, "maxlen")
                number = self._values.number(told, each.frame) if told is not None else None
                counts.add(as_count(number))
                again = again or told is not None
        return (counts.pop() if len(counts) == 1 else None), again

    # What functions make of pictures.

    def _as_told(self, node: ast.Call, whole: Picture, _: Frame | None) -> Picture:
        told = argument(node, 1, "dtype")
        dtype = whole.dtype if told is None else self._values.dtype(told)
        return whole._replace(dtype=dtype, is_lazy=False) if whole.sort >= Sort.SHOWN else whole

    def _kept(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        return whole

    def _drawn(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        """A picture, whatever it was given: with the dtype of that."""
        known = whole if whole.sort >= Sort.SHOWN else Picture(Sort.PICTURE, surely=False)
        made = known._replace(sort=Sort.PICTURE, dtype=known.dtype or "uint8", is_lazy=False)
        how = argument(node, 1, "code")
        word = how.attr if isinstance(how, ast.Attribute) else ""
        name = self._names.qualified(node.func) or ""
        if name.endswith("grayscale"):
            return made._replace(dims=(*(_gray(made).dims or ()), 1))
        return _gray(made) if word.endswith("2GRAY") else made

    def _resized(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        size = next((each for name in _SIZES if (each := argument(node, 1, name))), None)
        sides: tuple[int | None, int | None] = (None, None)
        if isinstance(size, (ast.List, ast.Tuple)) and len(size.elts) >= len(sides):
            high, wide = (self._values.number(each, frame) for each in size.elts[:2])
            sides = as_count(high), as_count(wide)
        made = self._drawn(node, whole, frame)
        return made._replace(dims=None if made.dims is None else (*sides, *made.dims[2:]))

    def _as_tensorflow_resizes(
        self, node: ast.Call, whole: Picture, frame: Frame | None
    ) -> Picture:
        how = argument(node, 2, "method")
        made = self._resized(node, whole, frame)
        keeps = how is not None and "nearest" in ast.unparse(how).lower()
        return made if keeps else made._replace(dtype="float32")

    def _resized_to_floats(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        return self._resized(node, whole, frame)._replace(dtype="float64")

    def _gray_floats(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        return _gray(self._drawn(node, whole, frame))._replace(dtype="float64")

    def _float32(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        return self._drawn(node, whole, frame)._replace(dtype="float32")

    def _bytes(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        return Picture(Sort.PICTURE, "uint8", whole.dims)

    def _mean(self, node: ast.Call, whole: Picture, _: Frame | None) -> Picture:
        if argument(node, 1, "axis") is None:
            return OTHER
        return _gray(whole)._replace(dtype="float64") if whole.sort >= Sort.SHOWN else whole

    def _brighter(self, node: ast.Call, whole: Picture, frame: Frame | None) -> Picture:
        """The larger numbers of two pictures, or of one and a number."""
        others = [self._ask(each, frame) for each in node.args[1:2]]
        seen = [each for each in (whole, *others) if each.sort >= Sort.SHOWN]
        return _any_of(seen) if seen else UNKNOWN

    _made: ClassVar[Mapping[str, Callable[..., Picture]]] = {
        **dict.fromkeys(_IN_ANOTHER_SHAPE, _kept),
        **dict.fromkeys(("keras.ops.cast", "tensorflow.cast"), _as_told),
        **{f"numpy.{dtype}": _cast_to(dtype) for dtype in ("float32", "float64", "uint8")},
        **dict.fromkeys(("numpy.maximum", "numpy.minimum"), _brighter),
        **dict.fromkeys(("numpy.average", "numpy.mean"), _mean),
        **dict.fromkeys(_DECODES, _bytes),
        "cv2.cvtColor": _drawn,
        "cv2.resize": _resized,
        "keras.utils.img_to_array": _float32,
        "skimage.color.rgb2gray": _gray_floats,
        "skimage.transform.resize": _resized_to_floats,
        "tensorflow.image.crop_to_bounding_box": _drawn,
        "tensorflow.image.per_image_standardization": _float32,
        "tensorflow.image.resize": _as_tensorflow_resizes,
        "tensorflow.image.rgb_to_grayscale": _drawn,
    }
    """What functions make of the picture they are given first."""


def _any_of(found: Iterable[Picture]) -> Picture:
    """What is known of something that is one of these: pictures, where one of them surely is."""
    decided = [each for each in found if each is not _UNDECIDED]
    if not decided:
        return _UNDECIDED
    if any(each.sort is Sort.OTHER for each in decided):
        return OTHER
    known = [each for each in decided if each.sort is not Sort.UNKNOWN]
    if not known:
        return UNKNOWN
    first = max(known, key=lambda each: each.sort)
    alike = [each for each in known if each.sort is first.sort]
    stacks = [each.frames for each in known if each.frames != 1]
    return Picture(
        first.sort,
        first.dtype if all(each.dtype == first.dtype for each in alike) else None,
        next((each.dims for each in alike if each.dims is not None), None),
        stacks[0] if stacks else 1,
        all(each.is_lazy for each in alike),
        len(known) == len(decided) and all(each.surely for each in known),
    )


def _gray(picture: Picture) -> Picture:
    """The same without its colours."""
    return picture._replace(dims=(None, None) if picture.dims is None else picture.dims[:2])


def _wider(one: str | None, other: str | None) -> str | None:
    return max(one, other, key=lambda each: DTYPE_BYTES.get(each, 0)) if one and other else None
