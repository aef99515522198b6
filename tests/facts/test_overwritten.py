"""What a place still holds where it is read, and what stays one value wherever it is put."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("source", "values"),
    [
        pytest.param("box.x = 1\nbox.x = 2\nsee(box.x)", ["2"], id="the last assignment"),
        pytest.param('box["x"] = 1\nbox["x"] = 2\nsee(box["x"])', ["2"], id="the last entry"),
        pytest.param("box.x, y = 1, 3\nsee(box.x)\nbox.x = 2", ["1"], id="one of several"),
        pytest.param("box.x = 1\nif a:\n    box.x = 2\nsee(box.x)", ["1", "2"], id="in a branch"),
        pytest.param(
            "box.x = 1\nfor i in a:\n    see(box.x)\n    box.x = 2", ["1", "2"], id="comes round"
        ),
        pytest.param(
            "box.x = 1\nfor i in a:\n    box.x = 2\n    see(box.x)\n    box.x = 3",
            ["2"],
            id="given anew in each round",
        ),
        pytest.param(
            "box.x = 1\n\ndef f():\n    see(box.x)\n\nbox.x = 2",
            ["1", "2"],
            id="read by a function",
        ),
        pytest.param(
            "box.x = 1\ndef f():\n    box.x = 2\nsee(box.x)", ["1", "2"], id="set by a function"
        ),
    ],
)
def test_a_place_holds(look: Look, source: str, values: list[str]) -> None:
    made = (
        "import types\nbox = {}\n"
        if '["' in source
        else "import types\nbox = types.SimpleNamespace()\n"
    )
    file, (seen,) = look(made + source)

    found = file.tf.flow.origins(seen) or ()

    assert sorted(ast.unparse(each.value) for each in found) == values


@pytest.mark.parametrize(
    ("source", "held"),
    [
        pytest.param("pair = (y, None)\nx, _ = pair\nsee(x)", "y", id="taken apart"),
        pytest.param("cell = [y]\nsee(cell[0])", "y", id="of a list"),
        pytest.param("for x, _ in zip([y], [None]):\n    see(x)", "y", id="zipped"),
        pytest.param("x = y\nsee(x)", None, id="by another name alone"),
        pytest.param("cell = [y]\nsee(cell[i])", "y", id="the one element there is"),
        pytest.param("cell = [y, z]\nsee(cell[i])", None, id="one of several"),
        pytest.param("cell = [y]\ncell.append(z)\nsee(cell[0])", None, id="of a list that grows"),
        pytest.param("for x in y:\n    see(x)", None, id="an element of what is gone over"),
    ],
)
def test_what_was_put_there(look: Look, source: str, held: str | None) -> None:
    file, (seen,) = look(f"y = z = load()\n{source}")

    put = file.tf.flow.put_there(seen)

    assert (ast.unparse(put) if put is not None else None) == held


@pytest.mark.parametrize(
    ("changed", "number"),
    [
        pytest.param("box.x *= 0.9", None, id="multiplied"),
        pytest.param("box.x += 1", None, id="counted"),
        pytest.param("box.y *= 2", 3, id="another place"),
    ],
)
def test_what_is_changed_in_place_is_no_known_number(
    look: Look, changed: str, number: int | None
) -> None:
    made = "import types\nbox = types.SimpleNamespace()\nbox.x = 3\nbox.y = 4\n"
    file, (seen,) = look(f"{made}for i in a:\n    see(box.x)\n    {changed}")

    assert file.tf.values.number(seen) == number
