"""How many bytes arrays and tensors hold, and lists of them: shapes with the user's own names."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.library.kinds import Extent, Kind, Value
from tfmemlint.facts.library.makers import DTYPE_BYTES
from tfmemlint.facts.library.shapes import is_new
from tfmemlint.facts.pipelines.specs import Signatures
from tfmemlint.facts.sizes.amounts import Amount, count, held, named, one_of, product
from tfmemlint.facts.sizes.networks import Networks
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.sizes.operations import Operations
from tfmemlint.facts.sizes.rows import LISTED, NUMBERS, PYTHON_FLOATS, PYTHON_INTS
from tfmemlint.facts.sizes.sized import Sized, broadcast, matmul, promoted
from tfmemlint.facts.sizes.streams import Streams
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import is_literal
from tfmemlint.facts.syntax.targets import element

_UNDECIDED = Sized(None, "undecided")
"""What is known of a tensor that depends on itself, before anything else is."""
_SIZED = Question("sized", _UNDECIDED, None)
_ELEMENTS = Question("elements", _UNDECIDED, None)
_LONGEST = 30
_WIDEST = 16
"""Bytes, of one number of the widest type there is."""


class Arrays:
    """Arrays, tensors and lists of them, followed backwards to what made them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names: Names = tf.names
        self._flow = tf.flow
        self._values = tf.values
        self._growths = tf.growths
        self._datasets = tf.datasets
        self._solver = tf.solver
        self._numbers = tf.of(Numbers)
        self._streams = tf.of(Streams)
        self._operations = tf.of(Operations)
        self._networks = tf.of(Networks)
        self._signatures = tf.of(Signatures)

    def of(self, expression: ast.expr, frame: Frame | None = None) -> Sized | None:
        """The shape and type of an array or a tensor; None for what is none, or not known."""
        found: Sized | None = self._solver.ask(_SIZED, self._sized, expression, frame)
        return found

    def nbytes(self, expression: ast.expr, frame: Frame | None = None) -> Amount:
        """How many bytes something holds: an array, a tensor, or a list of them."""
        sized = self.of(expression, frame)
        if sized is not None and sized.dims is not None:
            return bytes_of(sized)
        listed = self.listed(expression, frame)
        if listed is not None:
            return listed
        return _spoken(expression)

    def listed(self, expression: ast.expr, frame: Frame | None = None) -> Amount | None:
        """The bytes of the arrays in a list; None for what is no list of such."""
        kept = self.elements(expression, frame)
        if kept is None or kept.dims is None:
            return None
        return self._numbers.length(expression, frame).times(bytes_of(kept).folded())

    def elements(self, expression: ast.expr, frame: Frame | None = None) -> Sized | None:
        """What each element of a list is."""
        found: Sized | None = self._solver.ask(_ELEMENTS, self._elements, expression, frame)
        return found

    def _elements(self, expression: ast.expr, frame: Frame | None) -> Sized | None:
        if isinstance(expression, (ast.ListComp, ast.GeneratorExp)):
            return self._in_list(expression.elt, frame)
        if isinstance(expression, (ast.List, ast.Tuple)) and expression.elts:
            return one_shape([self._in_list(each, frame) for each in expression.elts])
        if isinstance(expression, ast.Call):
            whole = self.of(expression, frame)
            if whole is not None and whole.dtype in LISTED and whole.dims:
                return Sized(whole.dims[1:], whole.dtype)
        growths = self._growths.filling(expression, frame)
        if growths:
            added = [each for growth in growths for each in growth.elements]
            return one_shape([self._in_list(each) for each in added])
        if isinstance(expression, (ast.Attribute, ast.Name, ast.Subscript)):
            origins = self._flow.origins(expression, frame) or ()
            plain = [each for each in origins if each.is_whole]
            if plain and len(plain) == len(origins):
                return one_shape([self.elements(each.value, each.frame) for each in plain])
        return None

    def _in_list(self, node: ast.expr, frame: Frame | None = None) -> Sized | None:
        """One element of a list, which may be a list of numbers."""
        if not isinstance(node, (ast.List, ast.Tuple, ast.ListComp)):
            return self.of(node, frame)
        kept = self.elements(node, frame)
        if kept is None or kept.dims is None:
            return None
        return Sized((self._numbers.length(node, frame), *kept.dims), kept.dtype)

    def _sized(self, node: ast.expr, frame: Frame | None) -> Sized | None:
        value = self._values.of(node, frame)
        known = self._known(node, value)
        if known is not None:
            return known
        made = self._made(node, frame)
        return made if made is not None else self._partly(node, value, frame)

    def _known(self, node: ast.expr, value: Value) -> Sized | None:
        """What values tell, if that is everything."""
        is_number = value.kind is Kind.NUMBER and not isinstance(node, ast.Name)
        if is_number or value.nbytes is None:
            return None
        dims = tuple(count(each) for each in value.shape or () if each is not None)
        stands = value.extent is Extent.WHOLE and self._is_filled(value.origin)
        name = ast.unparse(node) if stands and isinstance(node, (ast.Name, ast.Attribute)) else ""
        return Sized(dims, value.dtype, name)

    def _partly(self, node: ast.expr, value: Value, frame: Frame | None) -> Sized | None:
        """What values tell, if that is some of it: the first axis is as long as the array."""
        if value.shape is None or value.kind not in (Kind.ARRAY, Kind.TENSOR, Kind.VARIABLE):
            return None
        origin = value.origin
        dims = [count(each) if each is not None else None for each in value.shape]
        given = self._operations.dimensions(origin, frame) if isinstance(origin, ast.Call) else None
        for place, each in enumerate(dims):
            if each is None and given is not None and len(given) == len(dims):
                dims[place] = given[place]
            elif each is None and place == 0:
                dims[place] = _length_of(node)
        if any(each is None for each in dims):
            return None
        return Sized(tuple(each for each in dims if each is not None), value.dtype)

    def _made(self, node: ast.expr, frame: Frame | None) -> Sized | None:
        """What an expression makes of others."""
        if isinstance(node, (ast.Name, ast.Attribute)):
            is_number = self._names.qualified(node) in NUMBERS
            return Sized((), PYTHON_FLOATS) if is_number else self._named(node, frame)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, frame)
        if isinstance(node, ast.UnaryOp):
            return self.of(node.operand, frame)
        if isinstance(node, ast.Compare) and len(node.comparators) == 1:
            left, right = self.of(node.left, frame), self.of(node.comparators[0], frame)
            both = left is not None and right is not None and (left.dims or right.dims)
            return broadcast(left, right, "bool") if both and left and right else None
        if isinstance(node, ast.IfExp):
            return one_shape([self.of(node.body, frame), self.of(node.orelse, frame)])
        if isinstance(node, ast.Subscript):
            return self._subscript(node, frame)
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float)):
            return Sized((), PYTHON_FLOATS if isinstance(node.value, float) else PYTHON_INTS)
        if isinstance(node, ast.Call):
            return self._operations.of(node, frame, self.of, self.elements) or self._returned(
                node, frame
            )
        return None

    def _returned(self, node: ast.Call, frame: Frame | None) -> Sized | None:
        returned = [*self._flow.returned(node, frame)]
        return one_shape([self.of(each.value, each.frame) for each in returned])

    def _named(self, node: ast.Name | ast.Attribute, frame: Frame | None) -> Sized | None:
        if isinstance(node, ast.Attribute) and node.attr == "T":
            inner = self.of(node.value, frame)
            return None if inner is None or inner.dims is None else inner.reversed
        if isinstance(node, ast.Attribute) and node.attr == "output":
            made = self._networks.output_of(node.value, frame)
            return None if made is None else Sized(made, "float32")
        origins = self._flow.origins(node, frame) or ()
        found = one_shape([self._from(each) for each in origins])
        return self._signed(node) if found is None and isinstance(node, ast.Name) else found

    def _signed(self, node: ast.Name) -> Sized | None:
        """What the signature of a traced function says of a parameter."""
        spec = self._signatures.of(node)
        if spec is None or spec.shape is None:
            return None
        dims = (
            named(f"{node.id}.shape[{place}]") if size is None else count(size)
            for place, size in enumerate(spec.shape)
        )
        return Sized(tuple(dims), spec.dtype)

    def _from(self, origin: Origin) -> Sized | None:
        value, path = element(origin.value, origin.path)
        if origin.how is How.LOOPED:
            return self._each(value, path, origin.frame)
        if origin.how not in (How.ASSIGNED, How.ENTERED):
            return None
        if not path:
            return self.of(value, origin.frame)
        if isinstance(value, ast.Call):
            found = [element(each.value, path) for each in self._flow.returned(value, origin.frame)]
            frames = [each.frame for each in self._flow.returned(value, origin.frame)]
            if found and not any(rest for _, rest in found):
                made = zip(found, frames, strict=True)
                return one_shape([self.of(each, inner) for (each, _), inner in made])
        return None

    def _each(self, node: ast.expr, path: tuple[int, ...], frame: Frame | None) -> Sized | None:
        """What a loop over something gives in each round."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args:
            name = node.func.id
            if name == "enumerate" and path:
                return self._each(node.args[0], path[1:], frame) if path[0] else Sized((), "int64")
            if name == "zip" and path and path[0] < len(node.args):
                return self._each(node.args[path[0]], path[1:], frame)
            if name in ("reversed", "iter", "tqdm", "list") and node.args:
                return self._each(node.args[0], path, frame)
        if self._datasets.is_dataset(node, frame):
            return self._streams.part(self._datasets.of(node, frame)[0], path)
        whole = self.of(node, frame) if not path else None
        if whole is not None and whole.dims:
            return Sized(whole.dims[1:], whole.dtype)
        return self.elements(node, frame) if not path else None

    def _arithmetic(self, node: ast.BinOp, frame: Frame | None) -> Sized | None:
        left, right = self.of(node.left, frame), self.of(node.right, frame)
        if isinstance(node.op, ast.MatMult):
            return matmul(left, right) if left and right else None
        if left is None or right is None:
            known, other = (left, node.right) if left is not None else (right, node.left)
            is_number = self._values.of(other, frame).kind is Kind.NUMBER
            number = is_number or self._numbers.of(other, frame).value is not None
            return known if known is not None and known.dims and number else None
        pairs = ((node.left, left), (node.right, right))
        tensors = [one for each, one in pairs if self._operations.is_tensor(each, frame)]
        tensor = tensors[0] if tensors else None
        dtype = promoted(left, right, divides=isinstance(node.op, ast.Div), tensor=tensor)
        return broadcast(left, right, dtype)

    def _subscript(self, node: ast.Subscript, frame: Frame | None) -> Sized | None:
        whole = self.of(node.value, frame)
        if whole is None or whole.dims is None:
            return None
        indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(indices) == 1 and whole.dims:
            picked = self.of(indices[0], frame)
            if picked is not None and picked.dims and "int" in (picked.dtype or ""):
                return Sized((*picked.dims, *whole.dims[1:]), whole.dtype)
        if any(is_literal(each, Ellipsis) for each in indices):
            return None
        left, made = list(whole.dims), list[Amount]()
        for place, each in enumerate(indices):
            if is_new(each):
                made.append(count(1))
            elif not left:
                return None
            elif isinstance(each, ast.Slice):
                size = left.pop(0)
                made.append(self._cut(node, each, place, size, frame))
            elif self._numbers.of(each, frame).value is not None or self._is_index(each, frame):
                left.pop(0)
            else:
                return None
        return Sized((*made, *left), whole.dtype)

    def _cut(
        self, node: ast.Subscript, part: ast.Slice, place: int, size: Amount, frame: Frame | None
    ) -> Amount:
        if part.lower is part.upper is part.step is None:
            return size
        cut = ast.copy_location(ast.Subscript(node.value, part, ast.Load()), node)
        taken = self._numbers.length(cut, frame) if place == 0 else self._numbers.taken(part, frame)
        if taken is None or taken.value is None:
            return named(ast.unparse(part))._replace(at_most=size.at_most)
        return taken

    def _is_index(self, node: ast.expr, frame: Frame | None) -> bool:
        """Whether this is the counter of a loop, or another plain number."""
        return self._values.of(node, frame).kind is Kind.NUMBER

    def _is_filled(self, origin: ast.expr | None) -> bool:
        """Whether numbers are made up, and so stand in for those there will be."""
        if not isinstance(origin, ast.Call):
            return False
        name = self._names.qualified(origin.func) or ""
        return self._operations.is_filled(name, origin)


def bytes_of(sized: Sized) -> Amount:
    """The bytes of an array of known shape; the first axis stands apart where there are more."""
    if sized.dims is None:
        return Amount(of_bytes=True)
    width = DTYPE_BYTES.get(sized.dtype or "")
    rows, rest = sized.dims[:1], sized.dims[1:]
    each = product([*rest, held(width or 1)])
    made = product(rows).times(each.folded()) if rows else each
    if not rest:
        made = made.folded()
    elif rows and rows[0].is_plain and rows[0].value == 1:
        made = each.folded()
    if width is None:
        most = None if made.at_most is None else made.at_most * _WIDEST
        numbers = () if made.unit is None else (f"{made.unit:,.0f} numbers",)
        factors = (*made.factors, *numbers)
        made = made._replace(factors=factors, unit=None, value=None, at_most=most)
    return made._replace(stands_in=made.stands_in or sized.stands_in, of_bytes=True)


def one_shape(found: list[Sized | None]) -> Sized | None:
    """What several possible values are, if that is known of each."""
    decided = [each for each in found if each is not _UNDECIDED]
    known = [each for each in decided if each is not None and each.dims is not None]
    if not known or len(known) < len(decided):
        return _UNDECIDED if found and not decided else None
    first = known[0]
    if all(len(each.dims or ()) == len(first.dims or ()) for each in known):
        columns = zip(*(each.dims or () for each in known), strict=True)
        dims = tuple(one_of(list(each)) for each in columns)
        same = all(each.dtype == first.dtype for each in known)
        return Sized(dims, first.dtype if same else None, first.stands_in)
    return None


def _spoken(node: ast.expr) -> Amount:
    text = ast.unparse(node)
    bytes_ = Amount((f"`{text}`",), of_bytes=True)
    return bytes_ if len(text) <= _LONGEST else Amount(of_bytes=True)


def _length_of(node: ast.expr) -> Amount:
    text = f"len({ast.unparse(node)})"
    return named(text) if len(text) <= _LONGEST else Amount(("the rows",))
