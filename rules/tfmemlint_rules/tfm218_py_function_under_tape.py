"""`tf.py_function` under a tape keeps its inputs and outputs for good.

## What it finds
`tf.py_function` in eager code under a `tf.GradientTape`, itself or in a function that is called
there, again and again, where no gradient goes back through it: it makes integers, booleans or
strings, or is given what was made before the tape began.

## Why it costs memory
TensorFlow opens a tape of its own for each call, and puts it aside with the inputs and outputs, for
the gradient to take. Where no gradient goes that way nothing ever takes them: every step leaves
its tensors behind until the program ends.

## What to do instead
`tf.numpy_function`, which keeps nothing and, in eager code, just calls the function; or call the
function itself; or call it before the tape begins. In traced code `tf.py_function` keeps the
tensors of one call at most.

## Fix safety
Unsafe: the function gets NumPy arrays in place of tensors, so that it can do without `.numpy()`.
Not offered where it is out of sight, hands what it gets to other functions of the module, or asks
more of it than its shape.

## When to ignore it
When only a few steps are made, on small tensors. The rule is silent by itself in traced code, where
recording is stopped, for code that runs once or that nothing in the file calls, since that may be
traced elsewhere, and where a gradient may go through the function: then its tensors are let go,
though smaller things are not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, edits
from tfmemlint.facts import FunctionNode, How, Kind, Tape, argument

PY_FUNCTION = "tensorflow.py_function"
ARGUMENTS = {"func", "inp", "Tout"}
EXACT = ("bool", "int", "string", "uint")
"""What the names of types begin with that have no gradients."""


def check(file: File) -> Iterator[Diagnostic]:
    reported: set[ast.Call] = set()
    for tape in file.tf.tapes.all:
        if file.tf.tracing.why(tape.block) is not None or not _again(file, tape.block):
            continue
        for call in file.tf.consumers.run_by(tape.block.body):
            if (
                isinstance(call, ast.Call)
                and file.tf.names.qualified(call.func) == PY_FUNCTION
                and call not in reported
                and _is_kept(file, tape, call)
            ):
                reported.add(call)
                what = file.called(argument(call, 0, "func"), "a function")
                yield Diagnostic(
                    file.span(call.func),
                    f"the tensors that {what} is given and gives, under "
                    f"{f'`{tape.name}`' if tape.name else 'a tape'}, stay after every step",
                    _fix(file, call),
                )


def _again(file: File, node: ast.AST, hops: int = 5) -> bool:
    """Whether code is seen to run many times."""
    if any(file.tf.tree.loops(node)):
        return True
    function = file.tf.tree.function(node) if hops else None
    if function is None:
        return False
    calls = file.tf.functions.calls_of(function)
    return any(_again(file, call, hops - 1) for call in calls)


def _is_kept(file: File, tape: Tape, call: ast.Call) -> bool:
    """Whether the tape records a call, and surely no gradient goes back through it."""
    above = list(file.tf.tree.ancestors(call))
    if file.tf.tracing.why(call) is not None or any(map(_stops_recording, above)):
        return False
    types, given = argument(call, 2, "Tout"), argument(call, 1, "inp")
    if types is not None and all(_is_exact(file, each) for each in _each(types)):
        return True
    inside = tape.block in above and len(file.tf.tapes.recording(call)) == 1
    asked_before = any(file.tf.tree.inside(each, tape.block) for each in tape.asked)
    if given is None or not inside or asked_before or tape.escapes:
        return False
    sources = [source for each in tape.asked for source in each.args[1:2]]
    followed = _origins(file, (*sources, *tape.watched))
    return bool(tape.asked) and all(
        isinstance(each, ast.Name)
        and _is_data(file, tape, each)
        and not followed & _origins(file, [each])
        for each in _each(given)
    )


def _origins(file: File, expressions: Iterable[ast.expr]) -> set[str]:
    """What expressions are made of: names, and attributes of `self`, as far back as is seen."""
    found, pending, seen = set[str](), list(expressions), set[ast.AST]()
    for expression in pending:
        for each in ast.walk(expression):
            if not isinstance(each, ast.Name):
                continue
            made = file.tf.bindings.reaching(each)
            if not any(binding.how not in (How.DEFINED, How.IMPORTED) for binding in made):
                continue
            above = file.tf.tree.parent(each)
            of_object = each.id == "self" and isinstance(above, ast.Attribute)
            found.add(ast.unparse(above) if of_object and above else each.id)
            for binding in made:
                if binding.value is not None and binding.node not in seen:
                    seen.add(binding.node)
                    pending.append(binding.value)
    return found


def _stops_recording(node: ast.AST) -> bool:
    return isinstance(node, ast.With) and any(
        isinstance(each.context_expr, ast.Call)
        and isinstance(each.context_expr.func, ast.Attribute)
        and each.context_expr.func.attr == "stop_recording"
        for each in node.items
    )


def _is_exact(file: File, dtype: ast.expr) -> bool:
    """Whether a type is one that has no gradients."""
    name = file.tf.names.qualified(dtype) or file.tf.values.dtype(dtype) or ""
    return name.rpartition(".")[2].startswith(EXACT)


def _is_data(file: File, tape: Tape, name: ast.Name) -> bool:
    """Whether a name stands for something made before the tape began, and for no variable."""
    made = file.tf.bindings.reaching(name)
    before = not any(file.tf.tree.inside(each.node, tape.block) for each in made)
    return bool(made) and before and file.tf.values.of(name).kind is not Kind.VARIABLE


def _each(several: ast.expr) -> list[ast.expr]:
    return several.elts if isinstance(several, (ast.List, ast.Tuple)) else [several]


def _fix(file: File, call: ast.Call) -> Fix | None:
    given, callee = argument(call, 0, "func"), call.func
    understood = len(call.args) <= 3 and {each.arg for each in call.keywords} <= ARGUMENTS
    if given is None or not isinstance(callee, ast.Attribute) or not understood:
        return None
    function, changes = file.tf.functions.function(given), list[Edit | None]()
    if function is not None:
        changes += _without_numpy(file, given, function)
    elif not (file.tf.names.qualified(given) or "").startswith("numpy."):
        return None  # NumPy takes arrays as they are; what others need is out of sight
    changes.append(edits.replaced(file, callee, f"{file.source(callee.value)}.numpy_function"))
    whole = tuple(each for each in changes if each is not None)
    if len(whole) < len(changes):
        return None
    return Fix("Call it as `tf.numpy_function`", whole, Applicability.UNSAFE)


def _without_numpy(file: File, given: ast.expr, function: FunctionNode) -> Iterator[Edit | None]:
    """What it takes for a function to do with arrays; None among it where that is not known."""
    tree, parameters = file.tf.tree, {each.arg for each in function.args.args}
    for node in file.tf.functions.body(function):
        if isinstance(node, ast.Attribute) and node.attr == "numpy":
            taken, above = node.value, tree.parent(node)
            if not isinstance(taken, ast.Name) or not isinstance(above, ast.Call):
                called = taken.func if isinstance(taken, ast.Call) else None
                of_op = (file.tf.names.qualified(called) or "").startswith("tensorflow.")
                if not of_op:
                    yield None
                continue
            binding = file.tf.bindings.only(taken)
            is_given = binding is not None and isinstance(binding.node, ast.arg)
            yield _taken_out(file, taken, above) if is_given and _is_only(file, given) else None
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            is_shape = node.attr == "shape" and not isinstance(tree.parent(node), ast.Attribute)
            if node.value.id in parameters - {"self"} and not is_shape:
                yield None
        elif isinstance(node, ast.Call) and file.tf.functions.function(node.func) is not None:
            read = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            if parameters & read:
                yield None


def _is_only(file: File, given: ast.expr) -> bool:
    """Whether a function is used nowhere else."""
    if isinstance(given, ast.Lambda):
        return True
    if isinstance(given, ast.Attribute):
        named = (each for each in file.tf.tree.all(ast.Attribute) if each.attr == given.attr)
        return len([*named]) == 1
    binding = file.tf.bindings.only(given) if isinstance(given, ast.Name) else None
    return binding is not None and file.tf.bindings.readers(binding) == [given]


def _taken_out(file: File, name: ast.Name, call: ast.Call) -> Edit | None:
    """`x` for `x.numpy()`, and nothing for `x = x.numpy()`."""
    statement = file.tf.tree.statement(call)
    if isinstance(statement, ast.Assign) and statement.value is call:
        again = ast.unparse(statement.targets[0]) == name.id and len(statement.targets) == 1
        lines = edits.whole_lines(file, statement) if again else None
        if lines is not None and "#" not in file.source(lines):
            return Edit(lines, "")
    return edits.reduced(file, call, name)


RULE = Rule(
    code="TFM218",
    name="py-function-under-tape",
    claim=Claim(Metric.DEVICE_GROWTH, at_most=0.05, because="no step leaves its tensors behind"),
    triggers=("py_function", "GradientTape"),
    check=check,
)
