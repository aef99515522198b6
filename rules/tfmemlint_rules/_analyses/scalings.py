"""Arithmetic of whole arrays with plain numbers: `x / 255.0`, `(x - 127.5) / 127.5`."""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.averages import averaged
from tfmemlint.facts.flow.loading import Gathered
from tfmemlint.facts.flow.stacks import Stack
from tfmemlint.facts.flow.wholes import Whole
from tfmemlint.facts.library.kinds import Extent, Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.library.promotion import quotient
from tfmemlint.light_typing import NamedTuple

UFUNCS: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Div: "divide",
    ast.Mult: "multiply",
    ast.Sub: "subtract",
}
_HELD = (ast.Attribute, ast.Name, ast.Subscript)
_NUMBERS = (ast.Attribute, ast.BinOp, ast.Call, ast.Name)
_VIEWS = frozenset({"ravel", "reshape", "squeeze", "swapaxes", "transpose"})
_FLOAT64 = "float"
"""What few know to be float64; who writes `float64` means it."""
_FLOAT32 = frozenset({"float32", "single"})
_EXACT = frozenset({"bool", "bool_", "int8", "uint8", "int16", "uint16", "float16", "half"})
"""What float32 has a number for, whatever the value."""


_PLAIN = (
    ast.BinOp,
    ast.Constant,
    ast.Name,
    ast.UnaryOp,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
)


class Scaling(NamedTuple):
    """One chain of arithmetic with plain numbers on all rows of an array."""

    whole: ast.expr
    """All of it, with what it is cast to in the end."""
    first: ast.BinOp
    """The operation on the array itself, which decides of the dtype of what follows."""
    given: ast.expr
    """What that is done to."""
    array: ast.expr
    """The same before it is cast."""
    number: ast.expr
    reversed: bool
    """Whether the number comes first: `255.0 - x`."""
    before: ast.Call | None
    """`x.astype(...)`, if the array is cast in the chain, before any arithmetic."""
    after: ast.Call | None
    """`(x / 255.0).astype("float32")`, if the result is cast."""
    steps: int
    """How many operations there are."""
    stays_narrow: bool
    """Whether what follows the first operation leaves float32 as it is."""
    dtype: str
    """What the arithmetic gives: "float64" or "float32"."""
    size: Whole
    source: str | None
    """The dtype of the array, where it is known."""

    @property
    def is_exact(self) -> bool:
        """Whether one operation in float32 gives what float64, rounded to float32, gives.

        So it does where float32 has both numbers: float64 has more than twice its digits.
        """
        number = self.number.value if isinstance(self.number, ast.Constant) else None
        if not isinstance(number, (int, float)) or abs(number) >= 1 << 16:
            return False
        return self.steps == 1 and self.source in _EXACT and float(number * 8).is_integer()


class Scalings:
    """Such arithmetic in a file."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._loops = tf.loops
        self._names = tf.names
        self._values = tf.values
        self._wholes = tf.wholes
        self._arrays = tf.arrays
        self._loading = tf.loading
        self._stacks = tf.stacks
        self._bindings = tf.bindings
        self._objects = tf.objects

    @cached_property
    def all(self) -> tuple[Scaling, ...]:
        """Every chain that makes float64 of a whole array, or casts it to float32 in between."""
        found = (self._of(each) for each in self._tree.all(ast.BinOp) if type(each.op) in UFUNCS)
        return tuple(each for each in found if each is not None)

    def _of(self, first: ast.BinOp) -> Scaling | None:
        left, right = self._number(first.left), self._number(first.right)
        if left == right:
            return None
        given, number = (first.right, first.left) if left else (first.left, first.right)
        before = self._cast(given) or self._cast_before(given)
        array = before.func.value if before and isinstance(before.func, ast.Attribute) else given
        size = self._size(array)
        if size is None or not size.is_told or size.given:
            return None
        if isinstance(array, ast.BinOp) and self._of(array) is not None:
            return None  # what comes first decides
        value = self._values.of(array)
        source = value.dtype or self._dtype_of_files(value.origin)
        if (source or "").startswith("complex"):
            return None
        outer, numbers = self._chained(first)
        after = self._cast_after(outer)
        dtype = self._dtype(first, number, source, before, after)
        if dtype is None or (dtype == "float32" and before is None):
            return None
        steps, narrow = len(numbers) + 1, all(map(self._is_plain, numbers))
        return Scaling(
            after or outer,
            first,
            given,
            array,
            number,
            left,
            before,
            after,
            steps,
            narrow,
            dtype,
            size,
            source,
        )

    def _number(self, node: ast.expr) -> bool:
        """Whether an expression is one number, be it a mean of whole numbers."""
        if self._is_plain(node):
            return True
        return isinstance(node, _NUMBERS) and self._is_average(node)

    def _is_average(self, node: ast.expr) -> bool:
        """Whether an expression is a number of NumPy that averages make of whole numbers."""
        value = self._values.of(node)
        if value.kind is not Kind.ARRAY or value.shape != ():
            return False
        dtype, of = value.dtype, averaged(self._names, value.origin)
        if dtype is None and of is not None:
            dtype = quotient(self._dtype_of_files(self._values.of(of).origin))
        return dtype == "float64"

    def _is_plain(self, node: ast.expr) -> bool:
        """Whether an expression is a plain number, which leaves an array of floats its dtype."""
        plain = all(isinstance(each, _PLAIN) for each in ast.walk(node))
        return plain and self._values.number(node) is not None

    def _cast(self, node: ast.AST) -> ast.Call | None:
        """`x.astype(...)`, also where a view of it is what is given."""
        while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr == "astype" and self._names.qualified(node.func) is None:
                return node if len(node.args) == 1 else None
            if node.func.attr not in _VIEWS:
                return None
            node = node.func.value
        return None

    def _cast_before(self, given: ast.expr) -> ast.Call | None:
        """The same of what is cast elsewhere, for this arithmetic alone."""
        if not isinstance(given, _HELD) or self._values.of(given).kind is not Kind.ARRAY:
            return None
        return self._cast(self._objects.made_for(given).node)

    def _chained(self, node: ast.BinOp) -> tuple[ast.expr, list[ast.expr]]:
        """All that is done with numbers to what one operation gives, and the numbers."""
        outer, numbers = node, list[ast.expr]()
        while True:
            above = self._tree.parent(outer)
            if not isinstance(above, ast.BinOp) or type(above.op) not in UFUNCS:
                return outer, numbers
            number = above.left if above.right is outer else above.right
            if not self._number(number):
                return outer, numbers
            numbers.append(number)
            outer = above

    def _cast_after(self, outer: ast.expr) -> ast.Call | None:
        method = self._tree.parent(outer)
        call = self._tree.parent(method) if isinstance(method, ast.Attribute) else None
        if not isinstance(call, ast.Call) or not isinstance(method, ast.Attribute):
            return None
        if method.attr != "astype" or call.func is not method or len(call.args) != 1:
            return None
        return call if not call.keywords and self._named(call) in _FLOAT32 else None

    def _dtype(
        self,
        first: ast.BinOp,
        number: ast.expr,
        source: str | None,
        before: ast.Call | None,
        after: ast.Call | None,
    ) -> str | None:
        if before is not None:
            named = "" if before.keywords else self._named(before)
            if named == _FLOAT64:
                return "float64"
            return "float32" if named in _FLOAT32 else None
        if source is None and after is not None and isinstance(first.op, ast.Div):
            return "float64"  # of whole numbers and of float64; of float32 it would not be cast
        if source is None or source.startswith(("float", "half", "single", "bfloat")):
            return None
        value = self._values.of(first)
        whole = source.startswith(("int", "uint")) and value.dtype is None
        floats = isinstance(first.op, ast.Div) or self._is_float(number)
        known = value.kind is Kind.ARRAY and value.dtype == "float64"
        return "float64" if known or (whole and floats) else None

    def _is_float(self, number: ast.expr) -> bool:
        return self._is_average(number) or isinstance(self._values.number(number), float)

    def _named(self, cast: ast.Call) -> str:
        """The dtype a cast names, `float` and "float" among them."""
        node = argument(cast, 0, "dtype")
        if isinstance(node, ast.Constant):
            return str(node.value)
        if isinstance(node, ast.Name) and self._bindings.home(node.id, node) is None:
            return node.id
        return (self._values.dtype(node) if node is not None else None) or ""

    def _size(self, array: ast.expr) -> Whole | None:
        """The rows of a NumPy array that holds all there are, or those before or after a place."""
        value = self._values.of(array)
        if value.kind is not Kind.ARRAY:
            return None
        if value.extent is Extent.WHOLE:
            return self._wholes.of(array)
        gathered = self._gathered(value.origin) if value.extent is not Extent.PART else None
        return gathered or self._split(array)

    def _gathered(self, origin: ast.expr | None) -> Whole | None:
        """An array of a list with what a loop loads from all files."""
        stack = self._stack(origin)
        loaded = stack is not None and self._loaded(stack)
        return Whole(None, None, loaded=True, given=False) if loaded else None

    def _dtype_of_files(self, origin: ast.expr | None) -> str | None:
        """The dtype of an array of a list with what a loop loads from files."""
        stack = self._stack(origin)
        loaded = self._loaded(stack) if stack is not None else None
        if stack is None or loaded is None or argument(stack.call, 1, "dtype") is not None:
            return None
        home = self._tree.elsewhere(stack.call)
        values = self._values if home is None else home.values
        made = loaded.comprehension
        added = loaded.growth.elements if loaded.growth else [made.elt] if made else []
        found = {values.of(each).dtype for each in added}
        if found <= {None}:
            sized = (self._arrays if home is None else home.arrays).elements(stack.listed)
            return sized.dtype if sized is not None else None
        return found.pop() if len(found) == 1 else None

    def _loaded(self, stack: Stack) -> Gathered | None:
        home = self._tree.elsewhere(stack.call)
        return (self._loading if home is None else home.loading).gathered(stack.listed)

    def _stack(self, origin: ast.expr | None) -> Stack | None:
        """The call that makes an array of a list, be it in another file."""
        if not isinstance(origin, ast.Call):
            return None
        home = self._tree.elsewhere(origin)
        every = (self._stacks if home is None else home.stacks).all
        return next((each for each in every if each.call is origin), None)

    def _split(self, array: ast.expr) -> Whole | None:
        """`x[:-5000]` of a whole array, by literal places: the larger part is as large as all."""
        given: ast.expr | None = array
        while isinstance(given, ast.Name):
            binding = self._bindings.only(given)
            given = binding.value if binding is not None else None
            if binding is not None and binding.path:
                literal = isinstance(given, ast.Tuple) and len(binding.path) == 1
                given = given.elts[binding.path[0]] if isinstance(given, ast.Tuple) else None
                given = given if literal else None
        if not isinstance(given, ast.Subscript) or not isinstance(given.slice, ast.Slice):
            return None
        inner = self._wholes.of(given.value) if not self._loops.around(given) else None
        bounds = (given.slice.lower, given.slice.upper)
        places = [None if each is None else self._values.number(each) for each in bounds]
        known = all(
            isinstance(at, int) or each is None for at, each in zip(places, bounds, strict=True)
        )
        if inner is None or inner.rows is None or given.slice.step is not None or not known:
            return None
        first, last = (None if each is None else int(each) for each in places)
        return inner._replace(rows=len(range(inner.rows)[first:last]))
