"""Which bindings reach a use."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("source", "values"),
    [
        pytest.param("x = 1\nx = 2\nsee(x)", ["2"], id="the last assignment wins"),
        pytest.param("x = 1\nif a:\n    x = 2\nsee(x)", ["2", "1"], id="a branch may be skipped"),
        pytest.param(
            "x = 1\nif a:\n    x = 2\nelse:\n    x = 3\nsee(x)",
            ["2", "3"],
            id="one branch is taken",
        ),
        pytest.param(
            "x = 1\nif a:\n    x = 2\nelif b:\n    x = 3\nelse:\n    x = 4\nsee(x)",
            ["2", "3", "4"],
            id="an elif chain with else",
        ),
        pytest.param(
            "x = 1\nif a:\n    x = 2\n    raise a\nsee(x)", ["1"], id="a branch that leaves"
        ),
        pytest.param(
            "x = 1\nfor i in a:\n    see(x)\n    x = 2\n", ["2", "1"], id="a loop comes round again"
        ),
        pytest.param("x = 1\nfor i in a:\n    x = 2\nsee(x)", ["2", "1"], id="a loop may not run"),
        pytest.param(
            "x = 1\nwhile a:\n    x = 2\n    break\nsee(x)", ["2", "1"], id="break carries it out"
        ),
        pytest.param(
            "try:\n    x = 1\nexcept E:\n    x = 2\nsee(x)", ["2", "1"], id="try or its handler"
        ),
        pytest.param(
            "try:\n    x = 1\nexcept E:\n    raise\nsee(x)", ["1"], id="a handler that leaves"
        ),
        pytest.param("x = 0\nwith a as x:\n    see(x)", ["a"], id="with binds its name"),
        pytest.param("for x in a:\n    see(x)", ["a"], id="a loop binds its target"),
        pytest.param("x = 1\n[see(x) for x in a]", ["a"], id="a comprehension has its own names"),
        pytest.param("x = 1\n[x for x in a]\nsee(x)", ["1"], id="and does not leak them"),
        pytest.param("(a, (b, x)) = (1, (2, 3))\nsee(x)", ["3"], id="literal tuples are unpacked"),
        pytest.param("x = 1\ndef f():\n    see(x)\nx = 2", ["2"], id="a global read later"),
        pytest.param(
            "x = 1\ndef f():\n    global x\n    x = 2\nsee(x)",
            ["1", "2"],
            id="global assigns outside",
        ),
        pytest.param(
            "class C:\n    x = 1\n    def f(self):\n        see(x)", [], id="not the class's"
        ),
        pytest.param("if (x := 1):\n    see(x)", ["1"], id="a walrus"),
        pytest.param("match a:\n    case 1:\n        x = 1\nsee(x)", ["1"], id="a match case"),
        pytest.param("x = x0\nx += 1\nsee(x)", ["1"], id="an augmented assignment"),
    ],
)
def test_the_bindings_that_reach_a_use(look: Look, source: str, values: list[str]) -> None:
    file, seen = look(source)
    use = seen[0]
    assert isinstance(use, ast.Name)

    found = [each.value for each in file.tf.bindings.reaching(use)]

    assert [ast.unparse(each) for each in found if each is not None] == values


def test_readers_are_the_uses_a_binding_reaches(look: Look) -> None:
    file, _ = look("x = 1\na(x)\nx = 2\nb(x)\ndef f():\n    return x\n")
    first, second = file.tf.bindings.of(file.tree, "x")

    assert [use.lineno for use in file.tf.bindings.readers(first)] == [2]
    assert [use.lineno for use in file.tf.bindings.readers(second)] == [4, 6]


def test_unpacking_remembers_the_path_into_the_value(look: Look) -> None:
    file, seen = look("(a, b), (c, d) = load()\nsee(c)\nfor i, (e, f) in enumerate(g):\n    see(f)")
    paths = [file.tf.bindings.reaching(use)[0].path for use in seen if isinstance(use, ast.Name)]

    assert paths == [(1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("source", "same"),
    [
        pytest.param("x = 1\nsee(x)\nsee(x)", True, id="one name"),
        pytest.param("see(self.x)\nsee(self.x)", True, id="one attribute"),
        pytest.param("x = 1\nsee(x)\nx = 2\nsee(x)", False, id="bound anew between"),
        pytest.param("x = y = 1\nsee(x)\nsee(y)", False, id="two names"),
        pytest.param("def f(x): see(x)\ndef g(x): see(x)", False, id="parameters of two functions"),
    ],
)
def test_two_expressions_are_the_same(look: Look, source: str, same: bool) -> None:
    file, seen = look(source)

    assert file.tf.bindings.same(seen[0], seen[1]) is same


def test_bindings_of_a_name_are_found_whatever_their_scope(look: Look) -> None:
    file, _ = look("x = 1\ndef f(x):\n    y = 2\n")

    assert [each.how.value for each in file.tf.bindings.named("x")] == ["assigned", "parameter"]
    assert file.tf.bindings.named("z") == ()


@pytest.mark.parametrize(
    ("source", "assigned"),
    [
        ("x = f()\nsee(x)", "f()"),
        ("x: int = 1\nsee(x)", "1"),
        ("x, y = f()\nsee(x)", None),
        ("for x in f():\n    see(x)", None),
        ("x = 1\nif a:\n    x = 2\nsee(x)", None),
        ("see(f())", None),
    ],
)
def test_what_one_assignment_alone_gives_is_assigned(
    look: Look, source: str, assigned: str | None
) -> None:
    file, seen = look(source)
    found = file.tf.bindings.assigned(seen[0])

    assert (found and ast.unparse(found)) == assigned
