"""Lists that grow in loops."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tfmemlint import File


def grown(text: str) -> list[tuple[str, str]]:
    file = File("code.py", dedent(text))
    return [(each.name, ast.unparse(each.value)) for each in file.tf.loops.growths]


@pytest.mark.parametrize(
    ("statement", "added"),
    [
        pytest.param("xs.append(x)", "x", id="append adds its argument"),
        pytest.param("xs.extend([x])", "[x]", id="extend adds a list"),
        pytest.param("xs += [x]", "[x]", id="augmented assignment adds a list"),
        pytest.param("xs = xs + [x]", "[x]", id="a sum given to the same name adds a list"),
    ],
)
def test_a_list_grows_by(statement: str, added: str) -> None:
    assert grown(f"xs = []\nfor x in y:\n    {statement}\n") == [("xs", added)]


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param("ys = xs + [x]", id="a sum given to another name"),
        pytest.param("xs = [x] + xs", id="a sum with the list on the right"),
        pytest.param("xs = zs + [x]", id="a sum of another list"),
        pytest.param("xs = xs - [x]", id="a difference"),
        pytest.param("xs.insert(0, x)", id="insert"),
    ],
)
def test_a_list_does_not_grow_by(statement: str) -> None:
    assert grown(f"xs = []\nfor x in y:\n    {statement}\n") == []


def test_a_list_made_anew_by_a_loop_grows_in_the_inner_loops_only() -> None:
    text = """\
        for a in y:
            xs = []
            for b in a:
                xs = xs + [b]
        """
    (growth,) = File("code.py", dedent(text)).tf.loops.growths
    assert [
        ast.unparse(each.node.iter) for each in growth.loops if isinstance(each.node, ast.For)
    ] == ["a"]


@pytest.mark.parametrize(
    ("statement", "elements"),
    [
        pytest.param("xs.append([x, y])", ["[x, y]"], id="append adds one, even if it is a list"),
        pytest.param(
            "xs += [x, y]", ["x", "y"], id="a list that is written out adds each of its own"
        ),
        pytest.param("xs.extend(x)", [], id="a list made elsewhere adds nobody knows what"),
    ],
)
def test_the_elements_added(statement: str, elements: list[str]) -> None:
    file = File("code.py", f"xs = []\nfor x in z:\n    {statement}\n")
    (growth,) = file.tf.loops.growths
    assert [ast.unparse(each) for each in growth.elements] == elements


def test_the_growths_of_one_list_are_those_of_its_start() -> None:
    loop = "for x in values:\n    xs.append(x)\n    ys.append(1)\n    xs += [2]\n"
    loops = File("code.py", f"xs = []\nys = []\n{loop}xs = []\n{loop}").tf.loops

    for growth in loops.growths:
        expected = [each for each in loops.growths if each.start == growth.start]
        assert list(loops.growths_of(growth.start)) == expected
    assert len({growth.start for growth in loops.growths}) == 3
