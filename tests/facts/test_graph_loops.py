"""What Python loops are in the graph, and which of them could be a loop there."""

from __future__ import annotations

import ast
from textwrap import indent

import pytest

from tfmemlint import File
from tfmemlint.facts.flow.loops import Loop
from tfmemlint.facts.graphs.graph_loops import InGraph

HEAD = (
    "import tensorflow as tf\nimport numpy as np\nfrom tensorflow import keras\n"
    "@tf.function\ndef traced(x):\n    pass\n"
)
TF_FUNCTION = "@tf.function\ndef f(x, n, layers, model):\n"
EAGER = "def f(x, n, layers, model):\n"


def first_loop(body: str, header: str = TF_FUNCTION) -> tuple[File, Loop]:
    file = File("code.py", f"{HEAD}{header}    print(x.shape)\n{indent(body, '    ')}\n")
    nodes = sorted(
        file.tf.tree.all(ast.For, ast.While, ast.ListComp),
        key=lambda node: (node.lineno, node.col_offset),
    )
    node = nodes[0]
    return file, file.tf.loops.loop(node.generators[0] if isinstance(node, ast.ListComp) else node)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for i in range(100):\n    g(i)", InGraph.COPIES),
        ("for i in range(n):\n    g(i)", InGraph.COPIES),
        ("for i in range(x.shape[0]):\n    g(i)", InGraph.COPIES),
        ("for i in (1, 2):\n    g(i)", InGraph.COPIES),
        ("for i in reversed(range(n)):\n    g(i)", InGraph.COPIES),
        ("y = [g(i) for i in range(100)]", InGraph.COPIES),
        ("for i in range(tf.shape(x)[0]):\n    g(i)", InGraph.LOOP),
        ("for i in tf.range(n):\n    g(i)", InGraph.LOOP),
        ("for row in x:\n    g(row)", InGraph.LOOP),
        ("for b in tf.data.Dataset.range(9):\n    g(b)", InGraph.LOOP),
        ("for i, b in enumerate(tf.data.Dataset.range(9)):\n    g(b)", InGraph.LOOP),
        ("i = tf.constant(0)\nwhile i < n:\n    i += 1", InGraph.LOOP),
        ("while tf.reduce_any(x > 0):\n    x = g(x)", InGraph.LOOP),
        ("i = 0\nwhile i < 9:\n    i += 1", InGraph.COPIES),
        ("for layer in layers:\n    g(layer)", None),
        ("i = 0\nwhile i < n:\n    i += 1", None),
        ("for i, row in enumerate(x):\n    g(row)", None),
        ("y = [g(row) for row in x]", None),
    ],
)
def test_what_a_loop_is_in_the_graph(body: str, expected: InGraph | None) -> None:
    file, loop = first_loop(body)
    assert file.tf.graph_loops.becomes(loop) is expected


def test_a_loop_of_eager_code_is_in_no_graph() -> None:
    file, loop = first_loop("for i in range(100):\n    g(i)", EAGER)
    assert file.tf.graph_loops.becomes(loop) is None


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (TF_FUNCTION, True),
        ("@tf.function(jit_compile=True)\ndef f(x):\n", True),
        ("@tf.function(autograph=False)\ndef f(x):\n", False),
        ("class M(keras.Model):\n  def call(self, x):\n", False),
        ("class M(keras.Model):\n  @tf.function\n  def call(self, x):\n", True),
        (EAGER, False),
    ],
)
def test_where_autograph_rewrites_loops(header: str, expected: bool) -> None:
    file, loop = first_loop("for i in range(100):\n    g(i)", header)
    assert file.tf.graph_loops.autograph(loop.node) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("for i in range(n):\n    layers[i](x)", True),
        ("for i in range(n):\n    layers[i + 1].call(x)", True),
        ("for i in range(n):\n    g(model.layers[i])", True),
        ("blocks = g(layers)\nfor i in range(n):\n    g(blocks[i])", True),
        ("for i in range(n):\n    g(layers[i])", False),
        ("for i in range(n):\n    model.get_layer(f'block_{i}')(x)", True),
        ("for i in range(n):\n    getattr(model, 'block' + str(i))(x)", True),
        ("for i in range(n):\n    model.get_layer('block_%d' % i)(x)", True),
        ("for i in range(n):\n    model.get_layer('block_{}'.format(i))(x)", True),
        ("for i in range(n):\n    g(x[f'column_{i}'])", True),
        ("for i in range(n):\n    g(x['column_' + str(i)])", True),
        ("rows = np.ones([9, 2])\nfor i in range(n):\n    g(rows[i])", False),
        ("for i in range(n):\n    g(i % 2)", False),
        ("for i in range(n):\n    g(x[i])", False),
        ("for i in range(n):\n    g(layers[i:])", False),
        ("for i in range(n):\n    g(layers[:, i])", False),
        ("for i in range(n):\n    print(f'trip {i}')", False),
        ("for i in range(n):\n    g(i)", False),
    ],
)
def test_where_the_variable_picks_python_objects(body: str, expected: bool) -> None:
    file, loop = first_loop(body)
    assert file.tf.graph_loops.picks_python(loop) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return layers[i](x)", True),
        ("return tf.nn.relu(getattr(model, f'block_{i}')(x))", True),
        ("return again(x, 2 * i)", True),
        ("return x[i]", False),
        ("return x * i", False),
    ],
)
def test_a_function_may_pick_for_the_loop(body: str, expected: bool) -> None:
    source = (
        "import tensorflow as tf\n"
        f"def step(x, i):\n    {body}\n"
        "def again(x, i):\n    return layers[i](x)\n"
        "@tf.function\ndef f(x):\n    for i in range(n):\n        x = step(x, i=i)\n"
    )
    file = File("example.py", source)
    (node,) = file.tf.tree.all(ast.For)

    assert file.tf.graph_loops.picks_python(file.tf.loops.loop(node)) == expected


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("for i in range(n):", "i"),
        ("for i in tf.range(x.shape[0]):", "i"),
        ("for i in tf.range(100):", "i"),
        ("for _ in range(n):", None),
        ("for i in range(1, n):", None),
        ("for i in tf.range(n):", None),
        ("for i in range(tf.reduce_max(x)):", None),
        ("for i in x:", None),
    ],
)
def test_which_variable_counts_the_trips(header: str, name: str | None) -> None:
    file, loop = first_loop(f"{header}\n    g(i)")
    counted = file.tf.graph_loops.counted(loop)
    assert (counted[0] if counted else None) == name


GOOD_BODIES = {
    "a step that hands on a tensor": "s = tf.zeros([2])\nfor t in range(n):\n    s = g(x[t], s)",
    "names that each trip makes anew": "for t in range(n):\n    y = tf.exp(x[:, t])\n    z = y * 2",
    "an index computed from the variable": "for t in range(n):\n    y = x[-t - 1]",
    "a gathered row": "for t in range(n):\n    y = tf.gather(x, t)",
    "a running sum": "s = 0.0\nfor t in range(n):\n    s += tf.reduce_sum(x[t])\nuse(s)",
    "a choice made before": "for t in range(n):\n    y = x[t]\n    if training:\n        y = y * 2",
    "an inner loop": "for t in range(n):\n    y = x[t]\n    for f in layers:\n        y = f(y)",
    "operations without a result": "for t in range(n):\n    tf.print(t)",
    "variables, optimizers and metrics": (
        "for t in range(n):\n    model.w.assign_add(x[t])\n    optimizer.apply_gradients(x[t])"
    ),
    "a call that is traced by itself": "for t in range(n):\n    traced(x[t])",
    "a result of the same shape": "s = tf.ones([2])\nfor t in range(n):\n    s = tf.roll(s, 1, 0)",
}
BAD_BODIES = {
    "a choice by the variable": "for t in range(n):\n    if t:\n        y = x[t]",
    "an early end": "for t in range(n):\n    y = x[t]\n    break",
    "an element of a list": "for t in range(n):\n    y = layers[t]",
    "a slice": "for t in range(n):\n    y = x[:t]",
    "a number for a function": "for t in range(n):\n    y = g(t)",
    "arithmetic with a tensor": "for t in range(n):\n    y = x * t",
    "an attribute": "for t in range(n):\n    model.last = x[t]",
    "an element stored": "for t in range(n):\n    layers[0] = x[t]",
    "an effect": "for t in range(n):\n    print(x[t])",
    "a call of who knows what": "for t in range(n):\n    model.note(x[t])",
    "a number that Python draws": "for t in range(n):\n    y = x[t] * np.random.rand()",
    "a tensor that grows": "s = tf.ones([2])\nfor t in range(n):\n    s = tf.concat([s, x[t]], 0)",
    "nothing to begin with": "s = None\nfor t in range(n):\n    s = g(x[t], s)",
    "a Python number handed on": "s = 0\nfor t in range(n):\n    s = s + 1",
    "a sum of integers": "s = 0\nfor t in range(n):\n    s += tf.reduce_sum(x[t])",
    "a result no trip may have given": "for t in range(n):\n    y = x[t]\nuse(y)",
    "the variable afterwards": "for t in range(n):\n    y = x[t]\nuse(t)",
    "an else": "for t in range(n):\n    y = x[t]\nelse:\n    y = x",
    "a variable of the module": "global t\nfor t in range(n):\n    y = x[t]",
    "two variables": "for t, u in zip(range(n), layers):\n    y = x[t]",
}


@pytest.mark.parametrize("body", [pytest.param(GOOD_BODIES[name], id=name) for name in GOOD_BODIES])
def test_what_could_be_the_body_of_a_graph_loop(body: str) -> None:
    file, loop = first_loop(body)
    assert file.tf.loop_bodies.fit_graph(loop)


@pytest.mark.parametrize("body", [pytest.param(BAD_BODIES[name], id=name) for name in BAD_BODIES])
def test_what_could_not(body: str) -> None:
    file, loop = first_loop(body)
    assert not file.tf.loop_bodies.fit_graph(loop)


@pytest.mark.parametrize(
    ("given", "expected"),
    [("tf.ones([2])", True), ("np.ones([2])", True), ("7", False), ("unknown", False)],
)
def test_a_parameter_is_handed_on_where_all_callers_give_data(given: str, expected: bool) -> None:
    body = "for t in range(9): x = tf.exp(x)\n    return x"
    file = File("code.py", f"{HEAD.replace('pass', body)}\ntraced({given})\n")
    loop = file.tf.loops.loop(next(iter(file.tf.tree.all(ast.For))))
    assert file.tf.loop_bodies.fit_graph(loop) == expected


def test_what_is_going_to_be_replaced_may_do_anything() -> None:
    file, loop = first_loop("ys = []\nfor t in range(n):\n    ys.append(x[t])")
    assert isinstance(loop.node, ast.For)
    assert not file.tf.loop_bodies.fit_graph(loop)
    assert file.tf.loop_bodies.fit_graph(loop, loop.node.body)


@pytest.mark.parametrize(
    ("before", "brings", "carries"),
    [
        pytest.param("ys = []\ns = tf.zeros([2])", True, True, id="a tensor, bound before"),
        pytest.param("s = g(x)\nys = []", True, False, id="nobody knows what"),
        pytest.param("ys = []", False, False, id="nothing"),
    ],
)
def test_what_a_name_comes_to_the_loop_with(before: str, brings: bool, carries: bool) -> None:
    file, loop = first_loop(f"{before}\nfor t in range(n):\n    s = g(x[t], s)\n    see(s)")
    name = next(
        call.args[0]
        for call in file.tf.tree.all(ast.Call)
        if isinstance(call.func, ast.Name) and call.func.id == "see"
    )
    assert isinstance(name, ast.Name)
    bodies = file.tf.loop_bodies
    assert (bodies.brings(name, loop), bodies.carries(name, loop)) == (brings, carries)


def test_what_a_name_has_at_the_loop_it_need_not_have_further_up() -> None:
    file, loop = first_loop("ys = []\ns = tf.zeros([2])\nfor t in range(n):\n    s = g(s)")
    name = next(
        each
        for each in file.tf.tree.all(ast.Name)
        if each.id == "s" and isinstance(each.ctx, ast.Load)
    )
    block, place = file.tf.tree.place(file.tf.tree.statement(loop.node))
    ys, s = block[place - 2], block[place - 1]
    brings = file.tf.loop_bodies.brings
    assert [brings(name, loop, ys), brings(name, loop, s), brings(name, loop)] == [
        False,
        False,
        True,
    ]
