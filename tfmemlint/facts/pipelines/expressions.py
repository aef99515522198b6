"""What expressions come to in a run of the code that pipelines give their elements to."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tfmemlint.facts.library.shapes import is_all, is_rest
from tfmemlint.facts.pipelines.features import having
from tfmemlint.facts.pipelines.held import (
    NOTHING,
    NUMBER,
    OUTSIDE,
    Held,
    Several,
    Tensor,
    each_of,
    either,
    number,
    part_of,
    row,
    scaled,
    tensors,
    together,
    vague,
)
from tfmemlint.facts.syntax.arithmetic import ARITHMETIC, calculated, constant
from tfmemlint.facts.syntax.nodes import is_none, root
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.facts.flow.values import Values
    from tfmemlint.facts.pipelines.dry_runs import DryRun


def holds(run: DryRun, test: ast.expr) -> bool | None:
    """Whether a condition holds, if that is known: of numbers, flags and `None`."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inverse = holds(run, test.operand)
        return None if inverse is None else not inverse
    held = run.scope.get(test.id) if isinstance(test, ast.Name) else None
    if isinstance(held, Tensor) and held.value is not None:
        return bool(held.value)
    return _is_nothing(run, test)


def _is_nothing(run: DryRun, test: ast.expr) -> bool | None:
    """Whether `x is None` holds, if that is known: of `None` itself, and of parts of an element.

    Of what a function around is given it holds where somebody gives it nothing, and does not where
    all that it may be is in sight, and something.
    """
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not is_none(test.comparators[0]):
        return None
    held = run.scope.get(getattr(test.left, "id", ""), OUTSIDE)
    may_be_none = run.may_be_none(test.left) if held is OUTSIDE else None
    if may_be_none is not None:
        run.effects.known = False  # others may give it something, or nothing
    if may_be_none is False:
        return not isinstance(test.ops[0], (ast.Is, ast.Eq))
    if may_be_none:
        held = NOTHING
    if held is not NOTHING and any(each.times == 0 for each in tensors(held)):
        return None
    return (held is NOTHING) is isinstance(test.ops[0], (ast.Is, ast.Eq))


def evaluated(run: DryRun, node: ast.expr) -> Held:
    """What one expression holds, told by what is known of the element."""
    if is_none(node):
        return NOTHING
    if isinstance(node, ast.Constant):
        literal = float(node.value) if isinstance(node.value, bool) else constant(node)
        return number(literal) if literal is not None else OUTSIDE
    if isinstance(node, ast.Name):
        return run.scope.get(node.id) or run.outside(node)
    if isinstance(node, ast.Call):
        return run.call(node)
    if isinstance(node, ast.BinOp):
        return _arithmetic(run, node)
    if isinstance(node, ast.UnaryOp):
        held = run.held(node.operand)
        negative = isinstance(node.op, ast.USub) and isinstance(held, Tensor) and held.value
        return number(-negative) if negative else held
    if isinstance(node, ast.Subscript):
        return _subscript(run, node)
    if isinstance(node, ast.Attribute):
        return _attribute(run, node)
    if isinstance(node, (ast.Tuple, ast.List)):
        return row(run.held(each) for each in node.elts)
    if isinstance(node, ast.Dict):
        return _dictionary(run, node)
    if isinstance(node, ast.IfExp):
        run.held(node.test)
        decided = holds(run, node.test)
        if decided is not None:
            return run.held(node.body if decided else node.orelse)
        return either(run.held(node.body), run.held(node.orelse))
    if isinstance(node, ast.NamedExpr):
        run.bind(node.target, run.held(node.value))
        return run.held(node.target)
    run.effects.exact = False
    if isinstance(node, (ast.ListComp, ast.DictComp)):
        return _comprehension(run, node)
    inner = [run.held(each) for each in _operands(node)]
    run.effects.known = run.effects.known and isinstance(node, _UNDERSTOOD)
    tensors = [each for each in inner if isinstance(each, Tensor)]
    compares = isinstance(node, ast.Compare) and len(tensors) == len(inner) == 2
    if compares and not all(each.is_number for each in tensors):
        made = run.operations.pairwise((tensors[0], tensors[1]))
        return made._replace(dtype="bool")
    return OUTSIDE if isinstance(node, _UNDERSTOOD) else vague(row(inner))


def written(values: Values, node: ast.expr) -> Held:
    """A number, or several, that stand outside of what is run: `SIZE = (224, 224)`."""
    value = values.number(node)
    if value is not None:
        return number(value)
    told = values.shape(node) or (None,)
    return OUTSIDE if None in told else row(number(each) for each in told if each is not None)


def as_tensor(held: Held) -> Held:
    """What several numbers are to arithmetic: `image - [0.5, 0.4, 0.4]`."""
    parts = [] if isinstance(held, Tensor) else [part for _, part in held.parts]
    numbers = bool(parts) and all(isinstance(each, Tensor) and each.is_number for each in parts)
    return OUTSIDE._replace(shape=(len(parts),)) if numbers else held


def is_of_element(run: DryRun, node: ast.expr) -> bool:
    """Whether an expression is worked out from what the function that is run has at hand."""
    made = root(node)
    return isinstance(made, ast.Call) or (isinstance(made, ast.Name) and made.id in run.scope)


def spread(run: DryRun, node: ast.Call) -> ast.Call:
    """A call with each part of what is spread, `f(*parts)`, as an argument of its own."""
    given: list[ast.expr] = []
    for each in node.args:
        held = run.held(each.value) if isinstance(each, ast.Starred) else None
        if isinstance(held, Several) and None not in held.keys:
            parts = {f"{key} of `{ast.unparse(each)}`": part for key, part in held.parts}
            run.scope |= parts
            given += map(ast.Name, parts)
        else:
            given.append(each)
    return node if given == node.args else ast.Call(node.func, given, node.keywords)


def _dictionary(run: DryRun, node: ast.Dict) -> Several:
    made = Several(())
    for key, value in zip(node.keys, node.values, strict=True):
        held = run.held(value)
        named = None if key is None else run.key(key)
        spread = held.parts if key is None and isinstance(held, Several) else ((named, held),)
        for each, part in spread:
            made = having(made, each, part)
    return made


def _attribute(run: DryRun, node: ast.Attribute) -> Held:
    if not is_of_element(run, node):
        return run.outside(node)
    held = run.held(node.value)
    if node.attr == "audio":  # `tf.audio.decode_wav(data).audio`
        return part_of(held, 0)
    run.effects.exact = False
    return OUTSIDE


def _subscript(run: DryRun, node: ast.Subscript) -> Held:
    told = OUTSIDE if is_of_element(run, node) else run.outside(node)
    if told is not OUTSIDE:
        return told
    held, key = run.held(node.value), run.key(node.slice)
    if isinstance(key, str) or (key is not None and isinstance(held, Several)):
        return part_of(held, key)
    inner = [held] if isinstance(held, Tensor) else []
    places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for tensor in inner:
        if all(is_rest(each) or _turns(each) for each in places):
            run.effects.exact = False  # the first axis of a batch is another
            return tensor
        if all(is_rest(each) or _is_new_axis(run, each) for each in places):
            at_end = is_rest(places[0])
            run.effects.exact = run.effects.exact and at_end
            grown = None if tensor.shape is None else (*tensor.shape, 1)
            return tensor._replace(shape=grown if at_end else None)
        part = _cut(run, tensor, places)
        if part is not None:
            run.effects.exact = False
            return part
    run.effects.exact = False
    picked = isinstance(held, Several) and isinstance(node.slice, (ast.Name, ast.Attribute))
    return each_of(held) if picked else vague(held)


def _cut(run: DryRun, tensor: Tensor, places: Sequence[ast.expr]) -> Tensor | None:
    """What is cut of a tensor: `image[:, 256:]`; None where nothing tells how much of it."""
    left, kept, share = list(tensor.shape or ()), list[int | None](), 1.0
    if len(places) > len(left):
        return None
    for place, each in enumerate(places):
        if is_rest(each):
            behind = len(places) - place - 1
            kept += left[: len(left) - behind]
            left = left[len(left) - behind :]
            continue
        size = left.pop(0)
        if is_all(each):
            kept.append(size)
            continue
        taken = None if size is None else _taken(run, each, size)
        if size is None or taken is None:
            return None
        share *= taken / size if size else 1
        if isinstance(each, ast.Slice):
            kept.append(taken)
    return tensor._replace(shape=(*kept, *left), times=tensor.times * share, is_view=False)


def _taken(run: DryRun, index: ast.expr, size: int) -> int | None:
    """How much of an axis an index takes, if numbers tell."""
    if not isinstance(index, ast.Slice):
        held = run.held(index)
        return 1 if isinstance(held, Tensor) and held.is_number else None
    ends: list[int | None] = []
    for each in (index.lower, index.upper, index.step):
        end = None if each is None else _whole(run.held(each))
        if each is not None and end is None:
            return None
        ends.append(end)
    start, stop, step = ends
    return None if step == 0 else len(range(size)[start:stop:step])


def _whole(held: Held) -> int | None:
    return int(held.value) if isinstance(held, Tensor) and held.value is not None else None


def _turns(index: ast.expr) -> bool:
    """Whether all of an axis is taken, if in another order: `:`, `::-1`."""
    if not isinstance(index, ast.Slice) or index.lower is not None or index.upper is not None:
        return False
    return index.step is None or constant(index.step) == -1


def _is_new_axis(run: DryRun, node: ast.expr) -> bool:
    return is_none(node) or (run.names.qualified(node) or "").endswith(".newaxis")


def _comprehension(run: DryRun, node: ast.ListComp | ast.DictComp) -> Held:
    before = dict(run.scope)
    for generator in node.generators:
        run.bind(generator.target, each_of(run.held(generator.iter)))
        for test in generator.ifs:
            run.held(test)
    made = run.held(node.elt if isinstance(node, ast.ListComp) else node.value)
    run.scope = before
    return Several(((None, made),))


def _arithmetic(run: DryRun, node: ast.BinOp) -> Held:
    left, right = as_tensor(run.held(node.left)), as_tensor(run.held(node.right))
    if not isinstance(left, Tensor) or not isinstance(right, Tensor):
        run.effects.exact = False
        return vague(row((left, right)))
    if left.is_number and right.is_number:
        return _calculated(node.op, left, right)
    operands = (left, right)
    if isinstance(node.op, (ast.Add, ast.Sub)):
        return run.operations.pairwise(operands)
    if isinstance(node.op, ast.Mult):
        return scaled(run.operations.pairwise(operands), right.value or left.value)
    if isinstance(node.op, ast.Div):
        return run.operations.divided(operands, right.value)
    run.effects.exact = False
    return OUTSIDE if isinstance(node.op, ast.MatMult) else together(left, right)


def _calculated(op: ast.operator, left: Tensor, right: Tensor) -> Tensor:
    operation = ARITHMETIC.get(type(op))
    if operation is None or left.value is None or right.value is None:
        return NUMBER
    made = calculated(operation, left.value, right.value)
    return NUMBER if made is None else number(made)


def _operands(node: ast.expr) -> list[ast.expr]:
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]


_UNDERSTOOD = (ast.BoolOp, ast.Compare, ast.JoinedStr, ast.FormattedValue, ast.Lambda, ast.Slice)


def from_pairs(held: Held) -> Held:
    """The dictionary that is made of pairs, whose keys are not known, or of another one."""
    match held:
        case Several((((None, Several(((0, _), (1, value))))),)):
            return Several(((None, value),))
        case _:
            return held


def is_print(callee: ast.expr) -> bool:
    return isinstance(callee, ast.Name) and callee.id == "print"
