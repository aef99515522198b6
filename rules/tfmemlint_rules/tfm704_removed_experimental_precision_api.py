"""Mixed precision is asked for under a name that TensorFlow no longer has.

## What it finds
`tf.keras.mixed_precision.experimental.Policy` and `set_policy`, whichever way they are imported:
TensorFlow 2.9 and Keras 3 have none of these names, which stand outside of `experimental` since
2.4. It is silent where no more is asked for than full precision, or a name is but compared with, in
projects that may run with a TensorFlow before 2.9, where nothing is missing, and where nobody says
which it is and nothing catches the error, which tells all there is to know; where the code asks for
the version before it reads the name, and in tests.

## Why it costs memory
Where the name is missing, the program ends with an `AttributeError`, or, where that is caught, goes
on in float32: activations take twice what was meant.

## What to do instead
`tf.keras.mixed_precision.set_global_policy("mixed_float16")`. Weights and what the optimizer keeps
stay float32 under it: only activations become smaller. A step of your own has to scale the loss for
float16, `optimizer.scale_loss(loss)` in Keras 3; bfloat16 needs no scale.

## Fix safety
Unsafe: where the name is missing the program has ended there, or gone on in float32, and now it
computes in half precision. All of a file's uses change together; not offered where a policy is
given a loss scale, which the new one does not take, and where single names are imported.

## When to ignore it
When the program is to run with TensorFlow 2.8 and nothing newer; `tensorflow = "==2.8"` in the
settings, or the project's requirements, say so for all of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Diagnostic, Edit, File, Fix, Metric, Rule, costs, edits
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint.facts.syntax.nodes import names_in

OLD = "keras.mixed_precision.experimental"
NEW_NAMES = {
    "LossScaleOptimizer": "LossScaleOptimizer",
    "Policy": "Policy",
    "global_policy": "global_policy",
    "set_policy": "set_global_policy",
}
NAMES = frozenset(f"{OLD}.{each}" for each in NEW_NAMES)
GONE_SINCE = (2, 9)
FULL = ("float32", "float64")
_CAUGHT = frozenset({"AttributeError", "BaseException", "Exception", "ImportError"})
VERSIONS = frozenset({"VERSION", "__version__", "git_version"})

ACTIVATIONS = Amount(("activations of twice the width",), of_bytes=True)


def check(file: File) -> Iterator[Diagnostic]:
    if file.tensorflow is not None and file.tensorflow < GONE_SINCE:
        return
    used = file.tf.names.reads(NAMES)
    told = file.tensorflow is not None or file.tf.is_for_keras_3
    asking = (each for each in used if _asks_for_half(file, each))
    asked = next((each for each in asking if told or _is_caught(file, each)), None)
    if asked is not None and not any(_asks_for_version(file, each) for each in used):
        name = (file.tf.names.qualified(asked) or "").rpartition(".")[2]
        yield Diagnostic(
            file.span(asked),
            f"`{_old(file, asked)}` is gone since 2.9: it is `mixed_precision.{NEW_NAMES[name]}`",
            _fix(file, used),
            costs.cost(ACTIVATIONS),
        )


def _is_caught(file: File, used: ast.expr) -> bool:
    """Whether nobody is told that the name is missing."""
    tries = [each for each in file.tf.tree.ancestors(used) if isinstance(each, ast.Try)]
    return any(
        file.tf.tree.inside(used, statement)
        and any(
            each.type is None or not _CAUGHT.isdisjoint(names_in(each.type)) for each in handlers
        )
        for each in tries
        for statement in each.body
        for handlers in [each.handlers]
    )


def _asks_for_half(file: File, used: ast.expr) -> bool:
    """Whether a name is called, for more than full precision."""
    call = file.tf.tree.parent(used)
    if not isinstance(call, ast.Call) or call.func is not used:
        return False
    if (file.tf.names.qualified(used) or "").endswith(".global_policy"):
        return False
    word = argument(call, 0, "policy") or argument(call, 0, "name")
    for _ in range(2):  # of `set_policy(Policy("float32"))`, too
        word = file.tf.bindings.assigned(word) or word
        word = argument(word, 0, "name") or word if isinstance(word, ast.Call) else word
    return not (isinstance(word, ast.Constant) and word.value in FULL)


def _old(file: File, used: ast.expr) -> str:
    """The name as it is written or, if that does not tell it from the new one, in full."""
    written = file.named(used)
    return written if "experimental" in written else file.tf.names.qualified(used) or written


def _asks_for_version(file: File, used: ast.expr) -> bool:
    """Whether the name is read under a test of TensorFlow's version, or beside one."""
    tests = [test for test, _ in file.tf.tree.tests(used, file.tree)]
    parts = [each for test in tests for each in ast.walk(test)]
    given = [file.tf.bindings.assigned(each) for each in parts if isinstance(each, ast.Name)]
    parts += [each for value in given if value is not None for each in ast.walk(value)]
    return any(isinstance(each, ast.Attribute) and each.attr in VERSIONS for each in parts)


def _fix(file: File, used: list[ast.Attribute | ast.Name]) -> Fix | None:
    whole = edits.whole(_changes(file, used))
    return Fix("Use the name that has stayed", whole, Applicability.UNSAFE) if whole else None


def _changes(file: File, used: list[ast.Attribute | ast.Name]) -> Iterator[Edit | None]:
    imports: dict[ast.ImportFrom, Edit | None] = {}
    for each in used:
        call = file.tf.tree.parent(each)
        scaled = isinstance(call, ast.Call) and (len(call.args) > 1 or bool(call.keywords))
        if isinstance(each, ast.Name) or scaled or file.concrete(each) is None:
            yield None
            return
        name = NEW_NAMES[each.attr]
        owner = each.value
        if isinstance(owner, ast.Attribute) and owner.attr == "experimental":
            yield edits.instead(file, each, f"{file.source(owner.value)}.{name}")
            continue
        if name != each.attr:
            yield edits.replaced(file, each, f"{file.source(owner)}.{name}")
        binding = file.tf.bindings.only(owner)
        statement = file.tf.tree.parent(binding.node) if binding is not None else None
        if not isinstance(statement, ast.ImportFrom):
            yield None
            return
        imports[statement] = _imported(file, statement)
    yield from imports.values()


def _imported(file: File, statement: ast.ImportFrom) -> Edit | None:
    """`from tensorflow.keras import mixed_precision` for the import of `experimental` from it."""
    module, _, last = (statement.module or "").rpartition(".")
    alias = statement.names[0]
    if last != "mixed_precision" or len(statement.names) > 1 or alias.name != "experimental":
        return None
    called = alias.asname or alias.name
    renamed = "" if called == last else f" as {called}"
    return edits.instead(file, statement, f"from {module} import {last}{renamed}")


RULE = Rule(
    code="TFM704",
    name="removed-experimental-precision-api",
    claim=Claim(
        Metric.DEVICE_PEAK, at_most=0.8, because="activations are half as wide once it is found"
    ),
    triggers=("mixed_precision", "experimental"),
    check=check,
)
