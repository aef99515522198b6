"""What the tests of `if` come to, and which exclude each other."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File


def named(file: File, name: str) -> ast.Call:
    return next(
        call
        for call in file.tf.tree.all(ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == name
    )


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(on=True):\n    if on:\n        here()\n", True),
        ("def f(on=False):\n    if on:\n        here()\n", False),
        ("def f(on=False):\n    if not on:\n        here()\n", True),
        ("def f(on):\n    if on:\n        here()\n", None),
        ("def f(on=False):\n    if on:\n        here()\nf(True)\n", True),
        ("def f(on=True):\n    if on:\n        here()\nf(False)\n", False),
        ("def f(on):\n    if on:\n        here()\nf(False)\nf(True)\n", True),
        ("def f(on):\n    if on:\n        here()\nf(False)\nf(0)\n", False),
        ("def f(on):\n    if on:\n        here()\nf(False)\nf(unknown())\n", None),
        ("def f(to=True):\n    if isinstance(to, str):\n        here()\n", False),
        ("def f(to='a'):\n    if isinstance(to, str):\n        here()\n", True),
        ("def f(to):\n    if isinstance(to, str):\n        here()\n", None),
        ("def f(path=None):\n    if path is not None:\n        here()\n", False),
        ("def f(path=None):\n    if path is None:\n        here()\n", True),
        ("def f(size=1):\n    if size > 1:\n        here()\n", False),
        ("def f(size=8):\n    if size > 1 and size != 4:\n        here()\n", True),
        ("def f(on=False, more=None):\n    if on or more:\n        here()\n", False),
        ("def f(on=False):\n    if on:\n        pass\n    else:\n        here()\n", True),
        ("ON = False\nif ON:\n    here()\n", False),
        ("ON = unknown()\nif ON:\n    here()\n", None),
        ("here()\n", True),
    ],
)
def test_code_is_expected_to_run_or_not(code: str, expected: bool | None) -> None:
    file = File("code.py", code)

    assert file.tf.conditions.runs(named(file, "here")) is expected


@pytest.mark.parametrize(
    ("body", "excluded"),
    [
        ("if on: one()\nif not on: other()", True),
        ("if on:\n    one()\nelse:\n    other()", True),
        ("if on: one()\nif on: other()", False),
        ("if on: one()\nif more: other()", False),
        ("if on: one()\non = not on\nif not on: other()", False),
        ("if mode == 'a': one()\nif not mode == 'a': other()", True),
        ("if draw(): one()\nif not draw(): other()", False),
        ("one()\nif not on: other()", False),
        ("if more and not on: one()\nif more and on: other()", True),
        ("if more and on: one()\nif more and on: other()", False),
        ("if more or on: one()\nif not on: other()", False),
        ("if on:\n    one()\nif not (more or on): other()", True),
    ],
)
def test_what_one_test_lets_run_another_may_not(body: str, excluded: bool) -> None:
    code = "def f(on, more, mode):\n" + "".join(
        f"    {line}\n" for line in dedent(body).splitlines()
    )
    file = File("code.py", code)

    assert file.tf.conditions.exclude(named(file, "one"), [named(file, "other")]) is excluded
