"""Numbers of the code: what they come to, how sure that is, and what to call them."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.entries import appended
from tfmemlint.facts.flow.flow import Origin
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.options import Options
from tfmemlint.facts.flow.solver import Question
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Extent, Kind
from tfmemlint.facts.sizes.amounts import UNKNOWN, Amount, count, named, negative, one_of, smaller
from tfmemlint.facts.sizes.row_keepers import RowKeepers
from tfmemlint.facts.sizes.spoken import length_of, short, spoken
from tfmemlint.facts.syntax.arithmetic import ARITHMETIC, calculated, constant
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import called
from tfmemlint.facts.syntax.tree import LoopNode

_NUMBER = Question("amount", UNKNOWN, UNKNOWN)
_LENGTH = Question("length", UNKNOWN, UNKNOWN)
_AS_THEY_ARE = frozenset({"enumerate", "list", "reversed", "set", "sorted", "tqdm", "tuple"})
_LISTS = frozenset({Kind.LIST, Kind.PATHS})
_LISTED = (ast.List, ast.ListComp)
_OF_LISTS = frozenset({"numpy.array", "numpy.asarray", "numpy.stack", "tensorflow.stack"})
"""What has as many rows as the list that it is made of."""
_WHOLE_NUMBERS = frozenset({"abs", "float", "int", "round"})


class Numbers:
    """Numbers and lengths, followed backwards, with where they come from."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._callers = tf.callers
        self._names = tf.names
        self._flow = tf.flow
        self._values = tf.values
        self._growths = tf.growths
        self._loops = tf.loops
        self._solver = tf.solver
        self._options = tf.of(Options)
        self._row_keepers = tf.of(RowKeepers)
        self._assumed = tf.assumed

    def of(self, expression: ast.expr, frame: Frame | None = None) -> Amount:
        """How much a number is."""
        found: Amount = self._solver.ask(_NUMBER, self._number, expression, frame)
        return found

    def length(self, expression: ast.expr, frame: Frame | None = None) -> Amount:
        """How many things something holds that has a length, or gives to a loop."""
        found: Amount = self._solver.ask(_LENGTH, self._length, expression, frame)
        return found

    def assumed(self, text: str) -> Amount | None:
        """What is assumed of an expression, by the text of it."""
        number = self._assumed.get(text)
        if number is None:
            return None
        note = f"assuming `{text}` is {count(number).text}"
        return named(text)._replace(value=number, at_most=number, notes=(note,))

    def _number(self, node: ast.expr, frame: Frame | None) -> Amount:
        literal = constant(node)
        if literal is not None:
            return count(literal)
        if isinstance(node, ast.Call):
            return self._called(node, frame)
        if isinstance(node, ast.BinOp):
            return self._calculated(node, frame)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return negative(self.of(node.operand, frame)) or spoken(node)
        assumed = self.assumed(ast.unparse(node)) if self._assumed else None
        if assumed:
            return assumed
        if isinstance(node, ast.IfExp):
            return one_of([self.of(node.body, frame), self.of(node.orelse, frame)])
        rows = self._values.rows(node, frame)
        if rows is not None and rows is not node:
            return self._rows(node, rows, frame)
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
            return self._followed(node, frame, self.of) or self._otherwise(node, frame)
        return spoken(node)

    def _otherwise(self, node: ast.expr, frame: Frame | None) -> Amount:
        number = self._values.number(node, frame)
        if number is not None and self._options.number(node, frame) is None:
            return count(number)
        given = self._callers.left_out(node) or self._options.default(node)
        amount = self.of(given) if given is not None else None
        if amount is None or amount.value is None:
            return spoken(node)
        note = f"with {amount.text} for `{ast.unparse(node)}`, as by default"
        return spoken(node)._replace(value=amount.value, notes=(note,))

    def _followed(
        self, node: ast.expr, frame: Frame | None, ask: Callable[[ast.expr, Frame | None], Amount]
    ) -> Amount | None:
        """What the origins of a name say; None where they are not in sight."""
        origins = self._flow.origins(node, frame)
        if not origins or not all(each.is_whole for each in origins):
            return None
        called = spoken(node) if ask == self.of else length_of(node)
        found = [self._said(called, each, ask(each.value, each.frame)) for each in origins]
        made = one_of(found)
        if made.value is None and made.at_most is None and not made.stands_in:
            return None
        return made

    def _said(self, called: Amount, origin: Origin, amount: Amount) -> Amount:
        """An amount under the name by which it is known here, where a call has given it."""
        is_parameter = origin.binding is not None and origin.binding.how is How.PARAMETER
        if not is_parameter or amount.value is None:
            return amount
        call = self._tree.parent(origin.value)
        call = self._tree.parent(call) if isinstance(call, ast.keyword) else call
        if not isinstance(call, ast.Call) or not amount.is_plain:
            return amount
        note = f"for the {amount.text} of `{short(call)}`"
        return called._replace(
            value=amount.value,
            at_most=amount.at_most,
            notes=(*amount.notes, note),
            stands_in=amount.stands_in,
        )

    def _calculated(self, node: ast.BinOp, frame: Frame | None) -> Amount:
        left, right = self.of(node.left, frame), self.of(node.right, frame)
        if isinstance(node.op, ast.Mult):
            return left.times(right)
        operation = ARITHMETIC.get(type(node.op))
        if operation is None or left.value is None or right.value is None:
            return spoken(node)
        value = calculated(operation, left.value, right.value)
        if value is None:
            return spoken(node)
        notes = tuple(dict.fromkeys((*left.notes, *right.notes)))
        sure = left.is_certain and right.is_certain
        made = count(value) if left.is_plain and right.is_plain else spoken(node)
        stands_in = left.stands_in or right.stands_in
        most = value if sure else None
        return made._replace(value=value, at_most=most, notes=notes, stands_in=stands_in)

    def _called(self, node: ast.Call, frame: Frame | None) -> Amount:
        rows = self._values.rows(node, frame)
        if rows is not None:
            return self._rows(node, rows, frame)
        name = called(node)
        if name in _WHOLE_NUMBERS and len(node.args) == 1:
            found = self.of(node.args[0], frame)
            whole = found.value is not None and found.is_plain
            return count(int(found.value or 0)) if whole and name != "float" else found
        if name == "min" and len(node.args) > 1:
            given = [self.of(each, frame) for each in node.args]
            least, *others = sorted(given, key=lambda each: each.value is None)
            for other in others:
                least = smaller(least, other)
            return least
        if name == "max" and len(node.args) > 1:
            return one_of([self.of(each, frame) for each in node.args])
        returned = [self.of(each.value, each.frame) for each in self._flow.returned(node, frame)]
        found_one = one_of(returned)
        return found_one if found_one.value is not None else spoken(node)

    def _rows(self, node: ast.expr, array: ast.expr, frame: Frame | None) -> Amount:
        return self.length(array, frame)

    # Lengths.

    def _length(self, node: ast.expr, frame: Frame | None) -> Amount:
        called = length_of(node)
        if self._assumed:
            assumed = self.assumed(f"len({ast.unparse(node)})")
            if assumed is not None:
                return assumed
        if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
            return self._grown(node, frame) or self._listed(node)
        if isinstance(node, ast.Dict):
            return count(len(node.keys)) if None not in node.keys else called
        if isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            return self._comprised(node, frame)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self._cut(node, node.slice, frame)
        if isinstance(node, ast.BinOp):
            return self._joined(node, frame) or called
        if isinstance(node, ast.IfExp):
            return one_of([self.length(node.body, frame), self.length(node.orelse, frame)])
        if isinstance(node, ast.Call):
            found = self._length_of_call(node, frame)
            if found is not None:
                return found
        value = self._values.of(node, frame)
        if value.shape and value.shape[0] is not None and value.kind not in _LISTS:
            made = value.origin if isinstance(value.origin, ast.Call) else None
            name = self._names.qualified(made.func) if made is not None else None
            stands = makers.makes_up(name, made) and value.extent is Extent.WHOLE
            rows = count(value.shape[0])
            return rows._replace(stands_in=ast.unparse(node) if stands and _is_short(node) else "")
        if isinstance(node, (ast.Name, ast.Attribute)):
            followed = self._followed(node, frame, self.length)
            if followed is not None:
                return self._grown(node, frame) or followed
        return self._grown(node, frame) or self._kept(node, frame) or called

    def _kept(self, node: ast.expr, frame: Frame | None) -> Amount | None:
        """The rows of an array that is made of another, if they are known."""
        told, whole = self._row_keepers.told(node), self._row_keepers.of(node, frame)
        found = self.of(told, frame) if told is not None else UNKNOWN
        found = self.length(whole, frame) if whole is not None else found
        return None if found.value is None or found.value < 0 else found

    def _listed(self, node: ast.List | ast.Tuple | ast.Set) -> Amount:
        """A list that is written down: it stands in for a longer one if it is of paths."""
        above = self._tree.parent(node)
        target = above.targets[0] if isinstance(above, ast.Assign) else None
        name = target.id if isinstance(target, ast.Name) else ""
        more = appended(target, self._tree, self._bindings) if target is not None else 0
        if more is None or any(isinstance(each, ast.Starred) for each in node.elts):
            return UNKNOWN
        is_paths = all(
            isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.elts
        )
        return count(len(node.elts) + more)._replace(stands_in=name if is_paths else "")

    def _comprised(
        self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, frame: Frame | None
    ) -> Amount:
        found = count(1)
        for each in node.generators:
            found = found.times(self.length(each.iter, frame))
        if any(each.ifs for each in node.generators):
            return spoken(node)._replace(at_most=found.at_most, stands_in=found.stands_in)
        return found

    def _cut(self, node: ast.Subscript, part: ast.Slice, frame: Frame | None) -> Amount:
        whole = self.length(node.value, frame)
        if part.step is not None:
            return length_of(node)._replace(at_most=whole.at_most, stands_in=whole.stands_in)
        taken = self.taken(part, frame)
        if taken is None:
            return length_of(node)._replace(at_most=whole.at_most, stands_in=whole.stands_in)
        return smaller(taken, whole) if whole.value is not None else taken

    def taken(self, part: ast.Slice, frame: Frame | None = None) -> Amount | None:
        """How many a slice takes: 32 of `[:32]`, `[-32:]`, `[50:82]` and `[start : start + 32]`."""
        lower, upper = part.lower, part.upper
        if upper is None:
            last = negative(self.of(lower, frame)) if lower is not None else None
            return last if last is not None and (last.value or 0) > 0 else None
        if lower is None or constant(lower) == 0:
            found = self.of(upper, frame)
            return found if found.value is None or found.value >= 0 else None
        if isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add):
            for one, other in ((upper.left, upper.right), (upper.right, upper.left)):
                if ast.unparse(one) == ast.unparse(lower):
                    return self.of(other, frame)
        ends = self.of(lower, frame), self.of(upper, frame)
        if ends[0].value is None or ends[1].value is None:
            return None
        return count(ends[1].value - ends[0].value) if ends[1].value >= ends[0].value >= 0 else None

    def _joined(self, node: ast.BinOp, frame: Frame | None) -> Amount | None:
        if isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(one, (ast.List, ast.Tuple)):
                    return self.length(one, frame).times(self.of(other, frame))
        if isinstance(node.op, ast.Add) and isinstance(node.left, (ast.List, ast.Name, ast.Call)):
            kinds = [self._values.of(each, frame).kind for each in (node.left, node.right)]
            if _LISTS.issuperset(kinds):
                return self.length(node.left, frame).plus(self.length(node.right, frame))
        return None

    def _length_of_call(self, node: ast.Call, frame: Frame | None) -> Amount | None:
        name = called(node)
        if name in makers.RANGES or self._names.qualified(node.func) == "tensorflow.range":
            return self._counted(node, frame)
        wraps = self._names.is_any(node.func, makers.WRAPS_ITERABLE)
        if (name in _AS_THEY_ARE or wraps) and node.args:
            return self.length(node.args[0], frame)
        if name == "zip" and node.args:
            found = self.length(node.args[0], frame)
            for each in node.args[1:]:
                found = smaller(found, self.length(each, frame))
            return found
        if node.args and self._names.is_any(node.func, _OF_LISTS):
            return self._of_list(node, node.args[0], frame)
        returned = [*self._flow.returned(node, frame)]
        found_one = one_of([self.length(each.value, each.frame) for each in returned])
        known = found_one.value is not None or found_one.at_most is not None
        return found_one if returned and known else None

    def _of_list(self, node: ast.Call, given: ast.expr, frame: Frame | None) -> Amount | None:
        """The rows of an array that is made of a list; None where it is made of something else."""
        axis = makers.argument(node, 1, "axis")
        is_list = isinstance(given, _LISTED) or self._values.of(given, frame).kind in _LISTS
        if not is_list or (axis is not None and constant(axis) != 0):
            return None
        return self.length(given, frame)

    def _counted(self, node: ast.Call, frame: Frame | None) -> Amount:
        """How many numbers a range gives."""
        ends = [self.of(each, frame) for each in node.args]
        if len(ends) == 1:
            return ends[0]
        if len(ends) in (2, 3) and constant(node.args[0]) == 0:
            return ends[1] if len(ends) == 2 else ends[1].rounded_up(ends[2])
        values = [int(each.value) for each in ends if each.value is not None]
        if len(values) < len(ends) or len(values) not in (2, 3) or values[2:] == [0]:
            return length_of(node)
        made = count(len(range(*values)))
        sure = all(each.is_certain for each in ends)
        return made if sure else made._replace(at_most=None)

    def _grown(self, node: ast.expr, frame: Frame | None) -> Amount | None:
        """The length of a list that loops fill; None for any other."""
        growths = self._growths.filling(node, frame)
        if not growths:
            return None
        found = UNKNOWN
        for place, growth in enumerate(growths):
            each = count(max(1, len(growth.elements))) if growth.elements else UNKNOWN
            for loop in growth.loops:
                each = each.times(self.rounds(loop.node))
            found = found.plus(each) if place else each
        conditional = any(self._tree.is_conditional(each.node) for each in growths)
        if conditional and found.value is not None:
            return length_of(node)._replace(at_most=found.at_most, stands_in=found.stands_in)
        return found

    def rounds(self, node: LoopNode | ast.comprehension) -> Amount:
        """How often a loop goes round."""
        loop = self._loops.loop(node)
        if isinstance(node, ast.While):
            return count(loop.trips) if loop.trips is not None else Amount(("the rounds",))
        found = self.length(node.iter)
        if loop.trips is not None and (found.value is None or loop.trips < found.value):
            return count(loop.trips)
        return found


def _is_short(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Attribute))
