"""Where values end up."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


def uses(look: Look, source: str) -> list[str] | None:
    """The lines, and the names on them, where the call to `see` ends up."""
    file, seen = look(source)
    call = file.tf.tree.parent(seen[0])
    assert isinstance(call, ast.Call)
    trails = file.tf.uses.of(call)
    if trails is None:
        return None
    return [f"{each[-1].lineno}: {ast.unparse(each[-1])}" for each in trails]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("print(see(1))", ["1: see(1)"]),
        ("x = see(1)\nprint(x)\nfor y in x: pass", ["2: x", "3: x"]),
        ("x = see(1)\ny = x\nprint(y)\nprint(x)", ["3: y", "4: x"]),
        ("def f():\n    return see(1)\nprint(f())\nx = f()\nx.y", ["3: f()", "5: x"]),
        ("def f():\n    x = see(1)\n    return x\nprint(f())", ["4: f()"]),
        ("def f():\n    return see(1)\ndef g():\n    return f()\nprint(g())", ["5: g()"]),
        (
            "class A:\n    def f(self):\n        return see(1)\n"
            "    def g(self):\n        print(self.f())",
            ["5: self.f()"],
        ),
        ("x = 1\nx = see(1)\nprint(x)", ["3: x"]),
    ],
)
def test_a_value_is_followed_to(look: Look, source: str, expected: list[str]) -> None:
    assert uses(look, source) == expected


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("x = see(1)", id="a name nothing here reads"),
        pytest.param("def f():\n    return see(1)", id="a function nothing here calls"),
        pytest.param("def f():\n    return see(1)\nf()\nmap(f, y)", id="a function handed on"),
        pytest.param(
            "def f(a):\n    if a:\n        return 1\n    return see(1)\nprint(f(2))",
            id="a function that returns other things too",
        ),
        pytest.param("@cache\ndef f():\n    return see(1)\nprint(f())", id="a wrapped function"),
        pytest.param("self.x = see(1)\nprint(self.x)", id="an attribute"),
        pytest.param("x, y = see(1)\nprint(x)", id="unpacked"),
        pytest.param("x = y = see(1)\nprint(x)", id="given two names at once"),
        pytest.param("x = 1\nif a:\n    x = see(1)\nprint(x)", id="a name that may hold another"),
        pytest.param("x = see(1)\ndef f():\n    print(x)", id="read by another function"),
        pytest.param(
            "class A:\n    def f(self):\n        return see(1)\n"
            "    def g(self):\n        print(self.f())\ndef h(a):\n    print(a.f())",
            id="a method that other objects may be asked for",
        ),
        pytest.param("f = lambda: see(1)\nprint(f())", id="returned by a lambda"),
        pytest.param("def f():\n    yield see(1)\nprint(f())", id="yielded"),
    ],
)
def test_a_value_goes_out_of_sight(look: Look, source: str) -> None:
    assert uses(look, source) is None


def test_the_way_to_a_use_is_known(look: Look) -> None:
    file, seen = look("def f():\n    return see(1)\nx = f()\nprint(x)")
    call = file.tf.tree.parent(seen[0])
    assert isinstance(call, ast.Call)

    trails = file.tf.uses.of(call)

    assert trails is not None
    assert [[ast.unparse(each) for each in trail] for trail in trails] == [["see(1)", "f()", "x"]]


def test_what_is_returned_is_used_within_its_own_function(look: Look) -> None:
    source = "def f():\n    a = see(make())\n    b = a\n    g(b)\n    return a\nf()\n"
    file, (made,) = look(source)
    parent = file.tf.tree.parent(made)
    assert isinstance(parent, ast.Call)

    trails = file.tf.uses.here(parent)

    assert trails is not None
    assert [ast.unparse(trail[-1]) for trail in trails] == ["b", "a"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = see(1)\nprint(x)", True),
        ("with a:\n    x = see(1)\n    print(x)", True),
        ("with a:\n    x = see(1)\n    with b:\n        print(x)", True),
        ("with a:\n    x = see(1)\nprint(x)", False),
        ("with a:\n    x = see(1)\nwith a:\n    print(x)", False),
        ("def f():\n    return see(1)\nwith a:\n    print(f())", True),
        ("def f():\n    with a:\n        return see(1)\nprint(f())", False),
        ("async def g():\n    async with a:\n        x = see(1)\n    print(x)", False),
        ("with a:\n    def f():\n        return see(1)\nprint(f())", True),
    ],
)
def test_a_value_that_leaves_a_with_does_not_stay_open(
    look: Look, source: str, expected: bool
) -> None:
    file, (seen,) = look(source)
    call = file.tf.tree.parent(seen)
    assert isinstance(call, ast.Call)
    trails = file.tf.uses.of(call)

    assert trails is not None
    assert [file.tf.uses.stays_open(each) for each in trails] == [expected]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a = f(see(1))\nprint(a)", ["a"]),
        ("a, (b, c.d) = see(1)\nprint(b, a, c)", ["a", "b"]),
        ("a = see(1)\na = 2\nprint(a)", []),
        ("print(see(1))", []),
    ],
)
def test_the_names_a_statement_binds_are_read(look: Look, source: str, expected: list[str]) -> None:
    file, (seen,) = look(source)
    statement = file.tf.tree.statement(seen)

    found = file.tf.uses.of_names_in(statement)

    assert sorted(ast.unparse(each) for each in found) == expected


def as_arrays(look: Look, source: str) -> list[str] | None:
    file, (seen,) = look("import numpy as np\nimport tensorflow as tf\n" + source)
    call = file.tf.tree.parent(seen)
    assert isinstance(call, ast.Call)
    found = file.tf.uses.as_arrays(call)
    return None if found is None else [file.source(each) for each in found]


@pytest.mark.parametrize(
    ("source", "conversions"),
    [
        ("a = see(1).numpy()", ["see(1).numpy()"]),
        ("np.mean(see(1)[:, 0])", []),
        ("a = see(1)\nb = tf.argmax(a, 1)\nc = a[0].numpy()", ["a[0].numpy()"]),
        ("a = see(1)", []),
    ],
)
def test_an_array_would_do_for_a_tensor(look: Look, source: str, conversions: list[str]) -> None:
    assert as_arrays(look, source) == conversions


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("see(1).shape", id="an attribute"),
        pytest.param("a = see(1).numpy", id="a method not called"),
        pytest.param("print(see(1).numpy)", id="a method given away"),
        pytest.param("print(see(1))", id="a function of somebody else"),
        pytest.param("see(1) + 1", id="arithmetic"),
        pytest.param("a, b = see(1)", id="unpacked"),
        pytest.param("a = see(1)\nb = np.mean(a)\nc = a.shape", id="one use of two"),
        pytest.param("a = 1\nif b:\n    a = see(1)\nnp.mean(a)", id="what may be something else"),
        pytest.param("[see(1)]", id="a list"),
    ],
)
def test_a_tensor_may_be_needed(look: Look, source: str) -> None:
    assert as_arrays(look, source) is None
