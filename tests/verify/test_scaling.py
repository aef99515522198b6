"""Programs given half and twice their data, and the names of how they grow."""

from __future__ import annotations

import ast

import pytest

from tfmemlint.verify.marks import is_simple, marked_lines
from tfmemlint.verify.scaling import FACTORS, ScalingError, exponent, order, scaled


@pytest.mark.parametrize(
    ("line", "factor", "expected"),
    [
        ("EXAMPLES = 2048  # scales", 2, "EXAMPLES = 4096  # scales"),
        ("EXAMPLES = 2048  # scales", 0.5, "EXAMPLES = 1024  # scales"),
        ("EXAMPLES = 2048  # scales", 1, "EXAMPLES = 2048  # scales"),
        ("n: int = 2_048  # scales", 2, "n: int = 4096  # scales"),
        ("ü = 10  # want TFM101  # scales", 2, "ü = 20  # want TFM101  # scales"),
        ("n = 1  # scales", 0.5, "n = 1  # scales"),
    ],
)
def test_the_marked_constant_is_multiplied(line: str, factor: float, expected: str) -> None:
    program = f"a = 7\r\nb = 2048  # scale\r\n{line}\r\nc = 2048\r\n"
    assert scaled(program, factor) == program.replace(line, expected)


@pytest.mark.parametrize(
    "program",
    [
        "n = 8\n",
        "n = 8  # rescales\n",
        "n = '# scales'\n",
        "n = 8  # scales\nm = 8  # scales\n",
        "n = 8; m = 8  # scales\n",
        "print(8)  # scales\n",
        "n = 0.5  # scales\n",
        "n = 0  # scales\n",
        "n = True  # scales\n",
        "n: int  # scales\n",
        "n = 4 * 1024  # scales\n",
        "n = m  # scales\n",
    ],
)
def test_what_is_not_one_whole_number_is_refused(program: str) -> None:
    with pytest.raises(ScalingError):
        scaled(program, 2)


def test_marks_are_comments_and_nothing_else() -> None:
    text = "a = 1  # step\nb = '# step'\n'''\n# step\n'''\n# steps\nc = 2  # want X #  step\n"
    assert marked_lines(text, "step") == {1, 7}


def test_what_holds_statements_is_not_simple() -> None:
    program = "while a:\n    match b:\n        case 1:\n            c()\n"
    simple = [ast.unparse(node) for node in ast.walk(ast.parse(program)) if is_simple(node)]
    assert simple == ["c()"]


@pytest.mark.parametrize(
    ("weights", "power", "name"),
    [
        ((50.0, 100.0, 200.0), 1, "linear"),
        ((100.0, 100.0, 100.0), 0, "constant"),
        ((25.0, 100.0, 400.0), 2, "quadratic"),
        ((12.5, 100.0, 800.0), 3, "cubic or steeper"),
        ((200.0, 100.0, 50.0), -1, "constant"),
        ((0.0, 0.0, 0.0), 0, "constant"),
        ((0.0, 1.0, 9.0), 0, "constant"),
    ],
)
def test_growth_is_named_by_its_exponent(
    weights: tuple[float, ...], power: float, name: str
) -> None:
    assert exponent(weights, resolution=10) == pytest.approx(power)
    assert order(exponent(weights, resolution=10)) == name


def test_growth_may_be_told_from_the_first_two_factors() -> None:
    assert exponent((50.0, 100.0), resolution=10) == pytest.approx(1)
    assert order(exponent((50.0, 54.0), resolution=10)) == "constant"


def test_the_factors_are_even_on_a_logarithmic_scale() -> None:
    least, middle, most = FACTORS
    assert most / middle == middle / least
