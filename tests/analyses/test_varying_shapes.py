"""Tensors of many shapes, given to traced functions."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.varying_shapes import ShapedBy, Varying, VaryingShapes

HEAD = """
import numpy as np
import tensorflow as tf

@tf.function
def f(x, n=0):
    return tf.reduce_mean(x)

rows = np.ones([99, 8])
ragged = tf.ragged.constant([[1], [2, 3]])
texts = tf.data.TextLineDataset("texts").map(vectorized)
"""

FIXED = "made = texts.map(lambda x: {})\nfor x in made.padded_batch(9):\n    f(x)"
GENERATED = (
    "made = tf.data.Dataset.from_generator(g, output_signature=tf.TensorSpec({}))\n"
    "for x in made.padded_batch(9):\n    f(x)"
)


def read(source: str) -> tuple[Varying, ...]:
    return File("example.py", HEAD + dedent(source)).tf.of(VaryingShapes).all


@pytest.mark.parametrize(
    ("source", "by"),
    [
        ("for i in range(99):\n    f(rows[:i])", ShapedBy.SLICE),
        ("for i in range(99):\n    f(rows[i:])", ShapedBy.SLICE),
        ("for i in range(99):\n    f(rows[5:i + 1])", ShapedBy.SLICE),
        ("for i in range(99):\n    f(rows[:-i])", ShapedBy.SLICE),
        ("for i in range(99):\n    f(rows[:, 2:i])", ShapedBy.SLICE),
        ("for i in range(99):\n    f(rows[7:7 + i])", ShapedBy.SLICE),
        ("for i in range(99):\n    x = tf.constant(rows[:i])\n    f(n=x, x=3)", ShapedBy.SLICE),
        ("for i in range(99):\n    f(rows[:i].astype('float32') / 2)", ShapedBy.SLICE),
        ("n = 0\nwhile n < 99:\n    n += 1\n    f(rows[:n])", ShapedBy.SLICE),
        ("def g(x):\n    f(x)\nfor i in range(99):\n    g(rows[:i])", ShapedBy.SLICE),
        ("xs = [1]\nfor _ in range(99):\n    f(np.array(xs))\n    xs.append(2)", ShapedBy.GROWTH),
        ("xs = []\nfor x in rows:\n    xs += [x]\n    f(tf.stack(xs))", ShapedBy.GROWTH),
        ("xs = []\nfor x in rows:\n    xs.append(x)\n    f(tf.constant([xs]))", ShapedBy.GROWTH),
        ("x = rows\nwhile go():\n    x = tf.concat([x, f(x)], 0)", ShapedBy.GROWTH),
        ("for t in ts:\n    f(np.array([w[k] for k in t.split()]))", ShapedBy.SEQUENCE),
        ("for t in ts:\n    f(tf.constant([[1, *(w[k] for k in t.split())]]))", ShapedBy.SEQUENCE),
        ("for t in ts:\n    f(np.array(tok.texts_to_sequences([t])))", ShapedBy.SEQUENCE),
        ("for row in ragged:\n    f(row)", ShapedBy.SEQUENCE),
        ("for i in range(99):\n    f(ragged[i])", ShapedBy.SEQUENCE),
        ("for i in range(99):\n    f(ragged[i:i + 9].to_tensor())", ShapedBy.SEQUENCE),
        ("for x in texts.padded_batch(9):\n    f(x)", ShapedBy.PADDING),
        ("for x in texts.padded_batch(9, [None]).prefetch(1):\n    f(x)", ShapedBy.PADDING),
        ("for i, x in enumerate(texts.padded_batch(9, [-1])):\n    f(x)", ShapedBy.PADDING),
        ("for x, y in texts.padded_batch(9, ([None], [])):\n    f(x)", ShapedBy.PADDING),
        ("for b in texts.padded_batch(9):\n    x, y = b\n    f(x[:, :-1])", ShapedBy.PADDING),
        (FIXED.format("tf.square(x)"), ShapedBy.PADDING),
        (FIXED.format("tf.pad(tf.io.decode_raw(x, 'uint8'), [[1, 1]])"), ShapedBy.PADDING),
        (GENERATED.format("[None]"), ShapedBy.PADDING),
        ("for m in masks:\n    f(tf.boolean_mask(rows, m))", ShapedBy.PICK),
        ("for m in masks:\n    f(tf.where(m > 0))", ShapedBy.PICK),
        ("x = rows\nwhile go():\n    x = np.append(x, f(x[-64:]), 0)", ShapedBy.GROWTH),
    ],
)
def test_what_gives_a_tensor_its_next_shape(source: str, by: ShapedBy) -> None:
    (found,) = read(source)

    assert found.by is by


@pytest.mark.parametrize(
    "source",
    [
        "for i in range(8):\n    f(rows[:i])",
        "for i in (10, 20):\n    f(rows[:i])",
        "for i in range(99):\n    f(rows[i:i + 9])",
        "for i in range(99):\n    f(rows[9 * i:9 * i + 9])",
        "for i in range(99):\n    f(rows[i:min(i + 9, 99)])",
        "for i in range(99):\n    f(rows[max(i - 9, 0):i])",
        "for i in range(99):\n    f(rows[i])",
        "for i in range(99):\n    f(rows[:, i])",
        "for i in range(99):\n    f(rows[:9])",
        "for i in range(99):\n    f(rows[:i % 4])",
        "for i in range(99):\n    f(rows[i:][:9])",
        "for i in range(99):\n    x = rows[i:]\n    f(x[:9])",
        "n = 4\nfor i in range(99):\n    if i % 40 == 0:\n        n *= 2\n    f(rows[:n])",
        "x = rows\nwhile go():\n    x = np.append(x, f(x[-8:]), 0)",
        "x = rows\nwhile go():\n    x = np.append(x, f(x[-length:]), 0)",
        "for i in range(99):\n    f(pad(rows[:i]))",
        "for i in range(99):\n    pass\nf(rows[:i])",
        "for i in range(99):\n    g(rows[:i])",
        "@tf.function\ndef g():\n    for i in range(99):\n        f(rows[:i])",
        "for x in rows:\n    xs = []\n    xs.append(x)\n    f(tf.stack(xs))",
        "xs = []\nfor x in rows:\n    xs.append(x)\nf(tf.stack(xs))",
        "xs = []\nfor x in rows:\n    xs.append(x)\n    xs.pop(0)\n    f(tf.stack(xs))",
        "xs = []\nfor x in rows:\n    xs.append(x)\n    xs = xs[-9:]\n    f(tf.stack(xs))",
        "xs = []\nfor x in rows:\n    xs.append(f(x))",
        "x = rows\nfor y in rows:\n    x = tf.concat([x, y], 0)[1:]\n    f(x)",
        "x = rows\nfor y in rows:\n    x = tf.concat([x, y], 0)\n    x = x[1:]\n    f(x)",
        "x = rows\nfor y in rows:\n    f(x)\n    x = tf.concat([x[1:], y], 0)",
        "x = rows\nfor y in rows:\n    x = np.append(x[1:], y)\n    f(x)",
        "x = tf.concat([rows, rows], 0)\nfor _ in range(99):\n    f(x)",
        "t = 'a b'\nfor _ in range(99):\n    f(np.array([w[k] for k in t.split()]))",
        "for t in ts:\n    f(np.array([w[k] for k in t]))",
        "for t in ts:\n    f(np.array([float(k) for k in t.split()]))",
        "for t in ts:\n    f(np.array([w[k] for k in t.split(',')]))",
        "xs = [rows, rows]\nfor i in range(99):\n    f(xs[:i])",
        "for t in ts:\n    f(tf.constant([t.split()[0]]))",
        "for x in texts.batch(9):\n    f(x)",
        "for x in texts.padded_batch(9, [64]):\n    f(x)",
        "for x, y in texts.padded_batch(9, ([None], [])):\n    f(y)",
        "for x in texts.padded_batch(9).map(cut):\n    f(x)",
        FIXED.format("tf.image.resize(x, [9, 9])"),
        FIXED.format("tf.io.parse_single_example(x, {'a': tf.io.FixedLenFeature([9], 'f')})"),
        GENERATED.format("[9]"),
        "for t in ts:\n    f(np.array(t.split(), dtype=float))",
        "for t in ts:\n    ws = t.split()\n    f(np.array(ws).astype(float))",
        "for t in ts:\n    f(np.array([np.float32(w) for w in t.split()]))",
        "for x in texts.padded_batch(9).take(2):\n    f(x)",
        "for x in tf.data.Dataset.from_tensor_slices(rows).padded_batch(9):\n    f(x)",
        "for i in range(99):\n    f(ragged[i:i + 9].to_tensor(shape=[9, 9]))",
        "m = rows > 0\nfor _ in range(99):\n    f(tf.boolean_mask(rows, m))",
        "for m in masks:\n    f(tf.where(m, rows, 0.0))",
    ],
)
def test_shapes_that_stay_or_are_few(source: str) -> None:
    assert read(source) == ()


@pytest.mark.parametrize("said", ["reduce_retracing=True", "input_signature=[s]"])
def test_a_function_that_leaves_sizes_open_is_traced_for_all(said: str) -> None:
    source = f"g = tf.function(lambda x: x, {said})\nfor i in range(99):\n    g(rows[:i])"

    assert read(source) == ()
    assert read(source.replace(f", {said}", ""))


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [("@app.route('/score')", True), ("@app.post('/score')", True), ("@cache", False), ("", False)],
)
def test_a_request_is_a_round(decorator: str, expected: bool) -> None:
    handler = "def score(text):\n    return f(tf.constant([[w[k] for k in text.split()]]))"

    found = read(f"{decorator}\n{handler}")

    assert [each.loop for each in found] == ([None] if expected else [])


def test_a_text_that_is_no_part_of_the_request_stays() -> None:
    handler = "def score():\n    return f(tf.constant([w[k] for k in TITLE.split()]))"

    assert read(f"@app.get('/title')\n{handler}") == ()


def test_a_call_is_told_of_once() -> None:
    (found,) = read("for i in range(99):\n    f(rows[:i], rows[i:])")

    assert ast.unparse(found.given.argument) == "rows[:i]"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("@tf.function\ndef g(x): pass", "tf.function"),
        ("@tf.function(autograph=False)\ndef g(x): pass", "tf.function(autograph=False)"),
        ("g = tf.function(lambda x: x)", "tf.function(lambda x: x)"),
        ("@tf.function(jit_compile=True)\ndef g(x): pass", None),
        ("@tf.function(**options)\ndef g(x): pass", None),
        ("t = tf.function(autograph=False)\n@t\ndef g(x): pass", None),
    ],
)
def test_what_can_be_told_to_leave_sizes_open(made: str, expected: str | None) -> None:
    file = File("example.py", f"{HEAD}{made}\nfor i in range(99):\n    g(rows[:i])\n")
    (found,) = file.tf.of(VaryingShapes).all

    maker = file.tf.of(VaryingShapes).maker(found.given.function)

    assert (maker and ast.unparse(maker)) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("tf.zeros([x.shape[0]])", True),
        ("x.get_shape()", True),
        ("tf.unstack(x)", True),
        ("range(len(x))", True),
        ("inner(x)", True),
        ("tf.zeros(tf.shape(x))", False),
        ("tf.unstack(x, 4)", False),
        ("tf.exp(x)", False),
    ],
)
def test_whether_python_asks_for_a_shape(body: str, expected: bool) -> None:
    inner = "def inner(y): return y.shape[0]\n"
    file = File("example.py", f"{HEAD}{inner}@tf.function\ndef g(x):\n    return {body}\n")
    function = next(each for each in file.tf.tree.all(ast.FunctionDef) if each.name == "g")

    assert file.tf.of(VaryingShapes).asks_for_shape(function) == expected
