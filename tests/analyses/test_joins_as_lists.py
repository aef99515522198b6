"""What lists would hold in place of arrays that grow."""

from __future__ import annotations

from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.joins import Joins
from tfmemlint_rules._analyses.joins_as_lists import JoinsAsLists

IMPORTS = "import keras\nimport numpy as np\nimport tensorflow as tf\n"


def code(text: str) -> File:
    return File("code.py", IMPORTS + dedent(text))


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        pytest.param("", "print(out)", True, id="read behind the loop"),
        pytest.param("print(out)", "", False, id="read between"),
        pytest.param("def show(): print(out)", "", False, id="read by a function"),
        pytest.param("", "def show(): print(out)", True, id="read by a function made later"),
        pytest.param("if a: out = tf.ones([1])", "", False, id="two starts"),
    ],
)
def test_the_start_could_be_a_list_if_none_would_notice(
    before: str, after: str, found: bool
) -> None:
    file = code(
        f"out = tf.zeros([0])\n{before}\nfor y in ys:\n    out = tf.concat([out, y], 0)\n{after}\n"
    )

    assert (file.tf.of(JoinsAsLists).start(file.tf.of(Joins).all[0]) is not None) == found


@pytest.mark.parametrize(
    ("within", "found"),
    [
        ("try:\n    {}\n  except ValueError: pass", False),
        ("try: pass\n  finally:\n    {}", False),
        ("with contextlib.suppress(ValueError):\n    {}", False),
        ("with tf.device('CPU'):\n    {}", True),
        ("try: pass\n  except ValueError: pass\n  {}", True),
    ],
)
def test_a_loop_that_goes_on_where_joining_fails_needs_it_done_there(
    within: str, found: bool
) -> None:
    join = within.format("out = tf.concat([out, y], 0)")
    file = code(f"import contextlib\nout = tf.zeros([0])\nfor y in ys:\n  {join}\n")

    assert (file.tf.of(JoinsAsLists).start(file.tf.of(Joins).all[0]) is not None) == found


@pytest.mark.parametrize(
    ("added", "held"),
    [
        ("w", True),
        ("[w]", True),
        ("layer.kernel", True),
        ("model.weights[0]", True),
        ("w + y", False),
        ("y", False),
    ],
)
def test_no_list_holds_a_variable_in_place_of_what_it_was(added: str, held: bool) -> None:
    file = code(
        f"""\
        w = tf.Variable(tf.ones([1]))
        out = tf.zeros([0])
        for y in ys:
            out = tf.concat([out, {added}], 0)
        """
    )

    assert (file.tf.of(JoinsAsLists).start(file.tf.of(Joins).all[0]) is None) == held


@pytest.mark.parametrize(
    ("added", "body", "new"),
    [
        ("tf.square(y)", "", True),
        ("model.predict(y)", "", True),
        ("p", "p = model.predict(y)", True),
        ("p", "p = np.argmax(model.predict(y), 1)", True),
        ("p", "p = model.predict(y); p[0] = 1", False),
        ("p", "p = model.predict(y); p.sort()", False),
        ("1000", "", False),
        ("0.5 * a", "", False),
        ("p", "p = 0.5 * a", False),
        ("np.reshape(buffer, -1)", "", False),
        ("np.reshape(y.numpy(), -1)", "", True),
        ("buffer", "buffer[:] = y", False),
        ("[1, 2.0]", "", True),
        ("f(y)", "", False),
    ],
)
def test_what_is_added_is_new_in_each_round(added: str, body: str, new: bool) -> None:
    file = code(f"for y in ys:\n    {body or 'pass'}\n    out = np.append(out, {added})\n")

    assert file.tf.of(JoinsAsLists).adds_new(file.tf.of(Joins).all[0]) == new
