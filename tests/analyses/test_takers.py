"""What takes the rows of an array."""

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses import takers
from tfmemlint_rules._analyses.takers import Takers

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = """
import keras
import tensorflow as tf

model = keras.applications.MobileNetV2()
"""


def taken(look: Look, source: str) -> tuple[File, list[takers.Taker | None]]:
    """What takes the rows of the array that `see` gives, use by use."""
    file, (seen,) = look(IMPORTS + dedent(source))
    call = file.tf.tree.parent(seen)
    assert isinstance(call, ast.Call)
    trails = file.tf.uses.of(call)
    assert trails is not None
    return file, [file.tf.of(Takers).of(each) for each in trails]


@pytest.mark.parametrize(
    "source",
    [
        "rows = see(1)\nfor row in rows: print(row)",
        "print([row for row in see(1)])",
        "for n, (row, label) in enumerate(zip(see(1), labels)): print(row)",
        "rows = see(1)\nfor epoch in range(5):\n    for row in rows: print(row)",
        "for step in range(9):\n    rows = see(1)\n    for row in rows: print(row)",
    ],
)
def test_rows_are_taken_one_by_one(look: Look, source: str) -> None:
    assert taken(look, source)[1] == [takers.Iterated()]


def test_rows_are_counted_wherever_that_is(look: Look) -> None:
    source = "rows = see(1)\nfor a in b:\n    print(len(rows))"

    assert taken(look, source)[1] == [takers.Counted()]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("print(see(1))", id="another function"),
        pytest.param("rows = see(1)\nprint(rows.shape)", id="an attribute"),
        pytest.param("rows = see(1)\nprint(rows + 1)", id="arithmetic"),
        pytest.param("rows = see(1)\nprint(a[rows])", id="an index"),
        pytest.param("rows = see(1)\nfor a in b:\n    for row in rows: print(row)", id="a loop"),
        pytest.param("for row in map(f, see(1)): print(row)", id="out of sight"),
    ],
)
def test_what_else_is_done_takes_no_rows(look: Look, source: str) -> None:
    assert taken(look, source)[1] == [None]


CUT = """
rows = see(1)
for start in range(0, len(rows), SIZE * 2):
    batch = rows[start : start + SIZE * 2]
    print(batch)
"""


@pytest.mark.parametrize("before", ["", "for epoch in range(3): print(epoch)\n"])
def test_rows_are_cut_into_batches(look: Look, before: str) -> None:
    file, (counted, cut) = taken(look, before + CUT)

    assert counted == takers.Counted()
    assert isinstance(cut, takers.Cut)
    assert (cut.batch, file.source(cut.size)) == ("batch", "SIZE * 2")
    assert file.source(cut.taken) == "batch = rows[start : start + SIZE * 2]"
    assert cut.taken is cut.loop.body[0]


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        pytest.param("start + SIZE * 2]", "start + SIZE]", id="another size"),
        pytest.param("range(0,", "range(5,", id="not from the first row"),
        pytest.param("len(rows)", "len(others)", id="as many as another has"),
        pytest.param("print(batch)", "print(batch, start)", id="the offset is used besides"),
        pytest.param("    batch =", "    print()\n    batch =", id="something comes first"),
        pytest.param("    print(batch)\n", "", id="nothing follows"),
        pytest.param("batch = rows", "batch, _ = rows", id="unpacked"),
    ],
)
def test_other_slices_are_no_batches(look: Look, part: str, instead: str) -> None:
    assert part in CUT

    assert not any(isinstance(each, takers.Cut) for each in _last(look, CUT.replace(part, instead)))


def _last(look: Look, source: str) -> list[takers.Taker | None]:
    return taken(look, source)[1][-1:]


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ("rows", None),
        ("rows, callbacks=[]", None),
        ("rows, batch_size=8, verbose=0", "8"),
        ("rows, batch_size=None", "None"),
    ],
)
def test_a_model_predicts_for_all_rows(look: Look, given: str, size: str | None) -> None:
    file, (found,) = taken(look, f"rows = see(1)\nmodel.predict({given})")

    assert isinstance(found, takers.Predicted)
    assert file.source(found.call) == f"model.predict({given})"
    assert (None if found.size is None else file.source(found.size)) == size


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("scaler.predict(see(1))", id="no model is known"),
        pytest.param("model.predict(see(1), 32)", id="a second argument"),
        pytest.param("model.predict(see(1), steps=3)", id="told how many"),
        pytest.param("model.predict(y, callbacks=see(1))", id="not the rows"),
        pytest.param("rows = see(1)\nfor a in b: model.predict(rows)", id="again and again"),
    ],
)
def test_other_predictions_are_not_taken_for_one(look: Look, source: str) -> None:
    assert taken(look, source)[1] == [None]


def test_a_pipeline_takes_the_rows(look: Look) -> None:
    file, (found,) = taken(look, "tf.data.Dataset.from_tensor_slices(see(1)).batch(8)")

    assert isinstance(found, takers.Piped)
    assert file.source(found.call) == "tf.data.Dataset.from_tensor_slices(see(1))"


def test_a_pipeline_takes_the_rows_with_others(look: Look) -> None:
    file, (found,) = taken(look, "tf.data.Dataset.from_tensor_slices((see(1), labels, weights))")

    assert isinstance(found, takers.Paired)
    assert file.source(found.slices) == "tf.data.Dataset.from_tensor_slices"
    assert [file.source(each) for each in found.others] == ["labels", "weights"]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("tf.data.Dataset.from_tensors(see(1))", id="as one element"),
        pytest.param("tf.data.Dataset.from_tensors((see(1), y))", id="as part of one element"),
        pytest.param("tf.data.Dataset.from_tensor_slices(see(1), name='rows')", id="a name"),
        pytest.param("tf.data.Dataset.from_tensor_slices(((see(1), x), y))", id="a pair in a pair"),
        pytest.param("pair = (see(1), y)", id="a pair"),
    ],
)
def test_other_pipelines_do_not_take_the_rows_as_they_are(look: Look, source: str) -> None:
    assert taken(look, source)[1] == [None]
