"""What options of a program are expected to be."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tfmemlint import File

PARSER = """\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--most", type=int, default=-1)
parser.add_argument("--name", default="a")
"""


def opened(code: str) -> File:
    return File("example.py", PARSER + dedent(code))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("see(parser.parse_args().steps)", 100),
        ("args = parser.parse_args()\nsee(2 * args.steps)", 200),
        ("args, _ = parser.parse_known_args()\nsee(args.steps)", 100),
        ("args = parser.parse_known_args()[0]\nsee(args.steps)", 100),
        ("def train(args):\n    see(args.steps)\ntrain(parser.parse_args())", 100),
        ("def train(args):\n    see(args.steps)", 100),
        ("class A:\n    def __init__(self, a):\n        self.n = a.steps\n"
         "    def f(self):\n        see(self.n)\nA(parser.parse_args()).f()", 100),
        ("def told():\n    return parser.parse_args()\nsee(told().steps)", 100),
        ("see(parser.parse_args().most)", None),
        ("see(parser.parse_args().name)", None),
        ("args = parser.parse_args()\nargs.steps = 3\nsee(args.steps)", 3),
        ("see(other.steps)", None),
        ("class A:\n    def f(self):\n        see(self.steps)", None),
        ("args = read()\nsee(args.steps)", None),
    ],
)  # fmt: skip
def test_numbers_are_what_a_parser_has_by_default(code: str, expected: int | None) -> None:
    file = opened(code)
    (call,) = (each for each in file.tf.tree.all(ast.Call) if ast.unparse(each.func) == "see")

    assert file.tf.values.number(call.args[0]) == expected


def test_whoever_reads_them_may_be_told_others() -> None:
    assert opened("print(parser.parse_args().steps)").tf.openness.why == "options"
    assert opened("print(parser.parse_args().name)").tf.openness.why is None
    assert opened("print(steps)").tf.openness.why is None
