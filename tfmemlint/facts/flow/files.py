"""On the way from a path, or a row of text, to an array: what expressions hold that read files."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from copy import copy
from enum import IntEnum

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.batches_of_one import BatchesOfOne
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame, entered
from tfmemlint.facts.flow.paths import key
from tfmemlint.facts.flow.solver import Question, Solver
from tfmemlint.facts.library import makers, reading
from tfmemlint.facts.syntax.arithmetic import constant
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, is_empty
from tfmemlint.facts.syntax.targets import element
from tfmemlint.facts.syntax.tree import LOOPS


class Content(IntEnum):
    """How far a value has come on its way from a path, or from a row of text, to an array."""

    NOTHING = 0
    PATH = 1
    FILE = 2
    """An open file, or the bytes in it."""
    TEXT = 3
    """A row of a file of text, or one field of it."""
    FIELDS = 4
    """What a text was split into, be they numbers by now."""
    PARTS = 5
    """A tuple or a list with arrays among what it holds, as in `[image, label]`."""
    ARRAY = 6
    """What was decoded from a file, in whatever form, at about its full size."""


IMAGE_SIDE = 16
"""Numbers in a row, and rows: with fewer they are a position, a matrix or a line of a table."""

_CONTENT = Question("content", Content.NOTHING, Content.NOTHING)


class Contents:
    """What expressions hold, given that `source`, a loop or an expression, gives paths.

    Or rows of text or, where it goes over what has been loaded before, arrays, or what has them at
    some `places`.
    """

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._names = tf.names
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._flow = tf.flow
        self._loops = tf.loops
        self._values = tf.values
        self._batches_of_one = tf.of(BatchesOfOne)
        self._source: ast.AST | None = None
        self._gives = Content.NOTHING
        self.places = frozenset[int]()
        self._solver = Solver()

    def given(self, source: ast.AST, gives: Content, places: frozenset[int]) -> Contents:
        """The same, where this is what gives something."""
        found = copy(self)
        found._source, found._gives, found.places = source, gives, places
        found._solver = Solver()
        return found

    def of(self, node: ast.expr, frame: Frame | None) -> Content:
        """What an expression holds; of several possible values, the one that has come furthest."""
        if node is self._source:
            return self._gives
        found: Content = self._solver.ask(_CONTENT, self._evaluate, node, frame)
        return found

    def places_in(self, elements: Iterable[ast.expr], frame: Frame | None) -> frozenset[int] | None:
        """Where in the elements of a list arrays stand: nowhere where they are arrays themselves.

        None if they hold none.
        """
        for each in elements:
            content = self.of(each, frame)
            if content is Content.PARTS:
                return self.places
            if content is Content.ARRAY:
                parts = each.elts if isinstance(each, (ast.List, ast.Tuple)) else ()
                held = [self.of(part, frame) is Content.ARRAY for part in parts]
                return frozenset(each for each, one in enumerate(held) if one and not all(held))
        return None

    def _most(self, nodes: Iterable[ast.expr], frame: Frame | None) -> Content:
        return max((self.of(each, frame) for each in nodes), default=Content.NOTHING)

    def _evaluate(self, node: ast.expr, frame: Frame | None) -> Content:
        if isinstance(node, ast.Name):
            for origins in (self._flow.named(node, frame), self._flow.origins(node, frame)):
                found = max(map(self._origin, origins or ()), default=Content.NOTHING)
                if found is not Content.NOTHING:
                    return found
            return Content.NOTHING
        if isinstance(node, ast.Call):
            return self._call(node, frame)
        if isinstance(node, ast.Attribute):
            inner = self.of(node.value, frame)
            kept = inner in (Content.PATH, Content.TEXT) or node.attr in reading.ARRAY_ATTRIBUTES
            return inner if kept else Content.NOTHING
        if isinstance(node, ast.Subscript):
            return self._subscript(node, frame)
        if isinstance(node, (ast.List, ast.Tuple)):
            return self._most(node.elts, frame)
        if isinstance(node, ast.BinOp):
            return self._most((node.left, node.right), frame)
        if isinstance(node, ast.IfExp):
            return self._most((node.body, node.orelse), frame)
        if isinstance(node, ast.Compare):
            return self.of(node.left, frame)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, frame)
        if isinstance(node, (ast.NamedExpr, ast.Starred, ast.FormattedValue)):
            return self.of(node.value, frame)
        if isinstance(node, ast.JoinedStr):
            return self._most(node.values, frame)
        if isinstance(node, (ast.ListComp, ast.GeneratorExp)):
            if self.of(node.elt, frame) is Content.ARRAY:  # `[scan[i : i + 8] for i in places]`
                return Content.ARRAY
            fields = self.of(node.generators[0].iter, frame) is Content.FIELDS
            return Content.FIELDS if fields else Content.NOTHING  # `[int(p) for p in row.split()]`
        return Content.NOTHING

    def _origin(self, origin: Origin) -> Content:
        target = origin.binding.node if origin.binding is not None else None
        if origin.how is How.LOOPED and target is not None:
            above = self._tree.ancestors(target)
            loop = next(each for each in above if isinstance(each, (*LOOPS, ast.comprehension)))
            source = self._source
            if source is not loop and source not in (target, self._tree.parent(target)):
                given = self.of(origin.value, origin.frame) if not origin.path else Content.NOTHING
                one = given is Content.ARRAY or self._is_listing(given, origin)  # of several
                return given if one else Content.NOTHING
            in_parts = self._gives is Content.PARTS and source is not target and origin.path
            return self._part(origin.path[-1]) if in_parts else self._gives
        if origin.how is How.AUGMENTED and isinstance(target, ast.Name):
            before = self.of(target, origin.frame)
            return max(before, self.of(origin.value, origin.frame))
        if origin.how in (How.ASSIGNED, How.ENTERED):
            if origin.binding is not None and is_empty(origin.value) and not origin.path:
                return self._filled(origin.binding, origin.frame)
            return self._unpacked(origin.value, origin.path, origin.frame)
        return Content.NOTHING

    def _is_listing(self, given: Content, origin: Origin) -> bool:
        """Whether what a loop goes over is all that is in a folder: `os.scandir(folder.path)`."""
        if given is not Content.PATH:
            return False
        made, _ = self._flow.made(origin.value, origin.frame)
        return self._names.call_of(made, makers.PATHS) is not None

    def _filled(self, start: Binding, frame: Frame | None) -> Content:
        """What a list holds that a loop fills with pieces of one file, as frames of a film."""
        grown = self._loops.growths_of(start)
        added = [each for growth in grown for each in growth.elements or [growth.value]]
        return Content.ARRAY if self._most(added, frame) is Content.ARRAY else Content.NOTHING

    def _part(self, place: object) -> Content:
        """What stands at a place of something that has arrays at some."""
        return Content.ARRAY if place in self.places else Content.NOTHING

    def _unpacked(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Content:
        node, path = element(node, path)
        if path and isinstance(node, ast.Call) and self._functions.function(node.func) is not None:
            returned = self._flow.returned(node, frame)
            found = (self._unpacked(each.value, path, each.frame) for each in returned)
            return max(found, default=Content.NOTHING)
        found_here = self.of(node, frame)
        if path and found_here is Content.FIELDS:
            return Content.TEXT
        if path and found_here is Content.PARTS:
            return self._part(path[0])
        # `signal, rate = librosa.load(path)`: the first is the array; `more, frame = film.read()`.
        read_by = self._names.qualified(node.func) if isinstance(node, ast.Call) else ""
        at = 1 if read_by in _ARRAY_SECOND else 0
        beside = found_here is Content.ARRAY and path and path[0] != at
        return Content.NOTHING if beside else found_here

    def _subscript(self, node: ast.Subscript, frame: Frame | None) -> Content:
        inner = self.of(node.value, frame)
        if inner is Content.NOTHING:  # `paths[i]`
            at_path = self.of(node.slice, frame) is Content.PATH
            return Content.PATH if at_path else Content.NOTHING
        if inner is Content.PARTS:
            return self._part(key(node.slice)[0])
        if inner is Content.ARRAY:
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            kept = any(isinstance(each, ast.Slice) or _names_part(each) for each in parts)
            place = constant(node.slice)
            alone = place == 0 and self._batches_of_one.of(node.value, frame)
            beside = place == 1 and self._names.call_of(node.value, reading.PAIRS)
            return inner if kept or alone or beside else Content.NOTHING
        if inner is Content.FIELDS and not isinstance(node.slice, (ast.Slice, ast.Tuple)):
            return Content.TEXT
        return inner

    def _call(self, node: ast.Call, frame: Frame | None) -> Content:
        found = self._given_back(node, frame)
        return Content.ARRAY if found is Content.FIELDS and self._is_image(node, frame) else found

    def _is_image(self, call: ast.Call, frame: Frame | None) -> bool:
        """Whether a call gives what was a row of numbers the shape of an image."""
        named = call.func.attr if isinstance(call.func, ast.Attribute) else None
        if named == "array_split" and len(call.args) == 2:
            return (self._values.number(call.args[1], frame) or 0) >= IMAGE_SIDE
        shape = self._values.of(call, frame).shape if named == "reshape" else None
        return sum(size is not None and size >= IMAGE_SIDE for size in shape or ()) > 1

    def _given_back(self, node: ast.Call, frame: Frame | None) -> Content:
        if self._functions.function(node.func) is not None:
            returned = self._flow.returned(node, frame)
            found = (self.of(each.value, each.frame) for each in returned)
            return max(found, default=Content.NOTHING)
        given = self._most(makers.given_to(node), frame)
        name = self._names.qualified(node.func)
        if name is not None:
            return _made_by(name, given)
        handed = self._by_what_is_handed(node, given, frame)
        if handed is not Content.NOTHING:
            return handed
        if isinstance(node.func, ast.Attribute):
            receiver = self.of(node.func.value, frame)
            if receiver is not Content.NOTHING:
                return _made_by_method(node.func.attr, receiver)
            if given is Content.ARRAY and node.func.attr == "apply":
                return given if self._is_filter(node.func.value, frame) else Content.NOTHING
        elif called(node) == "open":
            return Content.FILE if given is Content.PATH else Content.NOTHING
        elif called(node) == "list" and given is Content.ARRAY:
            return given  # its rows
        elif called(node) in reading.SAME_TEXT:
            return given if given in (Content.TEXT, Content.FIELDS) else _or_path(given)
        return _or_path(given)

    def _is_filter(self, applied: ast.expr, frame: Frame | None) -> bool:
        """Whether something makes a picture of a picture: `cv2.createCLAHE(clipLimit=2.0)`."""
        made, _ = self._flow.made(applied, frame)
        return isinstance(made, ast.Call) and self._names.is_any(made.func, reading.FILTERS)

    def _by_what_is_handed(self, node: ast.Call, given: Content, frame: Frame | None) -> Content:
        """What a function makes of a path that the code around is handed: `read(path)`."""
        found = Content.NOTHING
        for each in self._led_to(node.func, frame) if given in _READABLE else ():
            function = self._functions.function(each)
            inner = entered(function, node, frame) if function is not None else None
            for returned in self._bodies.returns(function) if function and inner else ():
                found = max(found, self.of(returned, inner))
            name = self._names.qualified(each)
            if function is None and name is not None:
                found = max(found, _made_by(name, given))
        return found

    def _led_to(self, callee: ast.expr, frame: Frame | None) -> Iterator[ast.expr]:
        """The functions that an expression may mean, as whoever hands them over names them."""
        pending: list[tuple[ast.expr, Frame | None]] = [(callee, frame)]
        for each, inside in pending:
            for origin in self._flow.origins(each, inside) or ():
                function = self._partly_called(origin.value)
                if self._functions.function(function) or self._names.qualified(function):
                    yield function
                elif len(pending) < _MOST_HANDS:
                    pending.append((function, origin.frame))

    def _partly_called(self, function: ast.expr) -> ast.expr:
        """`cv2.imread` for `partial(cv2.imread, flags=0)`."""
        if not isinstance(function, ast.Call) or not function.args:
            return function
        is_partial = self._names.qualified(function.func) == "functools.partial"
        return function.args[0] if is_partial else function


_ARRAY_SECOND = reading.PAIRS | {None, "scipy.io.wavfile.read"}
"""What reads an array, and gives something else before it: methods, above all."""
_MOST_HANDS = 8
"""Names that a function goes through on its way to who calls it."""
_COMPREHENDED = (ast.GeneratorExp, ast.ListComp)
_READABLE = frozenset({Content.PATH, Content.FILE})


def _or_path(given: Content) -> Content:
    return given if given is Content.PATH else Content.NOTHING


def _made_by(name: str, given: Content) -> Content:
    if name in reading.LOADS:
        return Content.ARRAY if given in (Content.PATH, Content.FILE) else Content.NOTHING
    if name in reading.DECODES:
        parsed = given is Content.TEXT and name == reading.PARSES
        made = Content.ARRAY if given is Content.FILE else Content.NOTHING
        return Content.FIELDS if parsed else made
    if name in reading.OPENS:
        return Content.FILE if given is Content.PATH else Content.NOTHING
    if name in reading.IN_MEMORY:
        return Content.FILE if given is Content.FILE else Content.NOTHING
    if given is Content.ARRAY:
        return given if _keeps(name) else Content.NOTHING
    if given is Content.FIELDS:
        kept = given if _keeps(name) or name == "numpy.array_split" else Content.NOTHING
        return Content.ARRAY if name in reading.TAKES_IMAGES else kept
    return _or_path(given)


def _made_by_method(method: str, receiver: Content) -> Content:
    if receiver in (Content.TEXT, Content.FIELDS):
        if method in ("split", "rsplit"):
            return Content.FIELDS
        kept = receiver is Content.TEXT or method in reading.ARRAY_METHODS
        return receiver if kept else Content.NOTHING
    if receiver is Content.ARRAY:
        return receiver if method in reading.ARRAY_METHODS else Content.NOTHING
    if receiver is Content.FILE:
        return receiver if method in ("read", "getvalue") else Content.NOTHING
    if method in ("open", "read_bytes"):
        return Content.FILE
    return Content.NOTHING if method == "read_text" else Content.PATH


def _keeps(name: str) -> bool:
    """Whether a function gives back an array of about the size it is given."""
    if name in makers.KEEPS_DATA or name in reading.KEEPS or name.endswith(".preprocess_input"):
        return True
    return name.startswith(reading.KEEPING) and name not in reading.REDUCES


def _names_part(index: ast.expr) -> bool:
    """Whether an index keeps dimensions (`...`, `None`) or picks by name (`archive["image"]`)."""
    if isinstance(index, ast.Call) and called(index) == "tuple" and index.args:
        index = index.args[0].elt if isinstance(index.args[0], _COMPREHENDED) else index
    if isinstance(index, ast.Call):
        return called(index) == "slice"
    if isinstance(index, ast.Constant):
        return index.value is None or index.value is Ellipsis or isinstance(index.value, str)
    return isinstance(index, ast.Attribute) and index.attr == "newaxis"
