"""Answers do not depend on who asks, or when; what depends on itself is found all the same."""

from collections.abc import Callable, Hashable
from itertools import permutations
from textwrap import dedent

import pytest

from tfmemlint import File, registry
from tfmemlint.facts.flow.solver import Question, Solver
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.linting import lint

Look = Callable[[str], tuple[File, list[object]]]

CHAIN = "\n".join(["x0 = np.zeros((1000, 1000))", *(f"x{n} = x{n - 1} * 2" for n in range(1, 17))])
LATE = "@tf.function\ndef f(i):\n    return tf.gather(x16, i)\n"
EARLY = "@tf.function\ndef g(i):\n    return tf.gather(x8, i)\n"


def reaching(edges: dict[str, str], start: str, order: str = "") -> list[frozenset[str]]:
    """The letters that can be reached from each of some letters, asked in an order."""
    solver = Solver(File("a.py", "").tf)

    def transfer(node: str) -> Hashable:
        found = frozenset({node})
        for following in edges.get(node, ""):
            found |= solver.ask(question, transfer, following)
        return found

    question = Question("reach", frozenset(), frozenset("?"))
    for node in order:
        solver.ask(question, transfer, node)
    return [solver.ask(question, transfer, node) for node in start]


GRAPHS = [
    {"a": "b", "b": "c", "c": ""},
    {"a": "a"},
    {"a": "b", "b": "a"},
    {"a": "bc", "b": "ad", "c": "b", "d": "c"},
    {"a": "b", "b": "cd", "c": "b", "d": "ae", "e": "d"},
    {"a": "bc", "b": "d", "c": "d", "d": "bce", "e": "f", "f": "e"},
]


@pytest.mark.parametrize("edges", GRAPHS)
def test_answers_are_the_least_that_hold_in_whatever_order_they_are_asked(
    edges: dict[str, str],
) -> None:
    def closure(node: str) -> frozenset[str]:
        found = [node]
        for each in found:
            found += [other for other in edges.get(each, "") if other not in found]
        return frozenset(found)

    nodes = "".join(edges)
    wanted = [closure(node) for node in nodes]
    for order in permutations(nodes, min(len(nodes), 4)):
        assert reaching(edges, nodes, "".join(order)) == wanted


def test_a_long_way_is_gone_to_its_end_from_wherever_it_is_asked() -> None:
    ways = {chr(1000 + n): chr(1001 + n) for n in range(300)}
    first, middle = chr(1000), chr(1150)

    assert reaching(ways, first) == reaching(ways, first, middle)
    assert len(reaching(ways, first)[0]) == 301


def test_what_never_comes_to_rest_is_given_up() -> None:
    solver = Solver(File("a.py", "").tf)

    def more(node: str) -> int:
        return int(solver.ask(question, more, node)) + 1

    question = Question("more", 0, -1)

    assert solver.ask(question, more, "a") == -1


@pytest.mark.parametrize("functions", [LATE + EARLY, EARLY + LATE])
def test_a_finding_does_not_depend_on_what_stands_above(functions: str) -> None:
    source = f"import numpy as np\nimport tensorflow as tf\n\n{CHAIN}\n\n\n{functions}"
    found = lint("a.py", source, [registry.load()["TFM105"]])

    assert len(found) == 2


@pytest.mark.parametrize(
    "loop",
    [
        "for i in range(3):\n    t = t + i",
        "while t.any():\n    t = t * 2",
        "for i in range(3):\n    u = t\n    t = u - 1",
    ],
)
def test_a_value_that_depends_on_itself_is_what_it_began_as(look: Look, loop: str) -> None:
    file, seen = look(f"import numpy as np\nt = np.zeros((4, 5))\n{loop}\nsee(t)")
    value = file.tf.values.of(seen[0])  # type: ignore[arg-type]

    assert (value.kind, value.shape) == (Kind.ARRAY, (4, 5))


def test_a_value_that_nothing_begins_is_unknown(look: Look) -> None:
    source = dedent("""
        def f(n):
            return f(n - 1)
        see(f(3))
    """)
    file, seen = look(source)

    assert file.tf.values.of(seen[0]).kind is Kind.UNKNOWN  # type: ignore[arg-type]
