"""Shapes of code that reach the rules many times over: work grows as they do, and not faster."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from tfmemlint import registry
from tfmemlint.linting import lint

RULES = tuple(registry.load().values())
FEW, MANY = 30, 60
LONG = frozenset(
    {
        "a chain of elif",
        "a pipeline under conditions",
        "a pipeline under either condition",
        "helpers of helpers",
        "one pipeline, step by step",
        "pipelines that are tried",
    }
)
"""Shapes that are one long pipeline: of one that is longer than people's, a part is looked at."""
START = "import numpy as np\nimport tensorflow as tf\n"
RANGE = "import sys\non = len(sys.argv)\nds = tf.data.Dataset.range(9000)\n"
SHAPES: dict[str, Callable[[int], str]] = {
    "concatenations to one name": lambda n: (
        "out = tf.zeros([0, 4])\nfor x in tf.data.Dataset.range(9000):\n"
        + "".join(f"    out = tf.concat([out, x + {i}], 0)\n" for i in range(n))
    ),
    "tapes": lambda n: (
        "x = tf.Variable(1.0)\n"
        + "".join(
            f"with tf.GradientTape(persistent=True) as t{i}:\n    y = x * {i}\n"
            f"g = t{i}.gradient(y, x)\n"
            for i in range(n)
        )
    ),
    "functions that call each other": lambda n: (
        "".join(f"def f{i}(x):\n    return f{i + 1}(x) + 1\n" for i in range(n))
        + f"def f{n}(x):\n    return x\n"
        + "ds = tf.data.Dataset.range(5000).map(f0).shuffle(3000).batch(4).prefetch(64)\n"
    ),
    "methods that call each other": lambda n: (
        "class Net:\n    def make(self):\n        self.m0()\n        return self.model\n"
        + "".join(
            f"    def m{k}(self):\n"
            + "".join(f"        self.m{(i + k) % 4}()\n" for i in range(n // 4))
            for k in range(4)
        )
        + "for i in range(90):\n    model = Net().make()\n    model.fit(np.ones((9, 4)))\n"
    ),
    "lists of losses": lambda n: "".join(
        f"l{i} = []\nfor x in tf.data.Dataset.range(9000):\n"
        f"    l{i}.append(tf.reduce_mean(x))\nprint(np.mean(l{i}))\n"
        for i in range(n)
    ),
    "lists of pipelines": lambda n: (
        "ds = tf.data.Dataset.range(5000).map(tf.square)\n"
        + "".join(f"print(len(list(ds.skip({i}))))\n" for i in range(n))
    ),
    "traced functions": lambda n: "".join(
        f"@tf.function\ndef f{i}(x, n):\n    return x * 2\nfor n in range(99):\n    f{i}(x, n)\n"
        for i in range(n)
    ),
    "arrays that graphs hold": lambda n: "".join(
        f"t{i} = np.ones((4096, 128), np.float32)\n"
        f"@tf.function\ndef f{i}(x):\n    return tf.gather(t{i}, x)\n"
        for i in range(n)
    ),
    "scaled arrays": lambda n: "".join(
        f"a{i} = np.load('{i}.npy').astype('float32') / 255.0\n" for i in range(n)
    ),
    "one pipeline, step by step": lambda n: (
        RANGE
        + "ds = ds.map(tf.square)\n" * n
        + "for x in ds.shuffle(3000).batch(4):\n    print(x)\n"
    ),
    "a pipeline under conditions": lambda n: (
        RANGE
        + "".join(f"if on > {i}:\n    ds = ds.shuffle({i + 10})\n" for i in range(n))
        + "for x in ds.batch(4):\n    print(x)\n"
    ),
    "a pipeline under either condition": lambda n: (
        RANGE
        + "".join(
            f"if on > {i}:\n    ds = ds.shuffle(9)\nelse:\n    ds = ds.batch(2)\n" for i in range(n)
        )
        + "for x in ds.prefetch(4):\n    print(x)\n"
    ),
    "a chain of elif": lambda n: (
        RANGE
        + "if on == -1:\n    pass\n"
        + "".join(f"elif on == {i}:\n    ds = ds.batch({i + 1})\n" for i in range(n))
        + "for x in ds.shuffle(9000):\n    print(x)\n"
    ),
    "pipelines that are tried": lambda n: (
        RANGE
        + "".join(
            f"try:\n    ds = ds.shuffle({i + 9})\nexcept ValueError:\n    pass\n" for i in range(n)
        )
        + "for x in ds.batch(4):\n    print(x)\n"
    ),
    "many pipelines": lambda n: "".join(
        f"d{i} = tf.data.Dataset.range(9000).map(lambda x: tf.fill([64], x)).shuffle(3000)\n"
        f"for x in d{i}.prefetch(99):\n    print(x)\n"
        for i in range(n)
    ),
    "pipelines of one": lambda n: (
        RANGE
        + "".join(f"d{i} = ds.map(lambda x: x + {i}).cache().take(9)\n" for i in range(n))
        + "".join(f"for x in d{i}:\n    print(x)\n" for i in range(n))
    ),
    "pipelines that are zipped": lambda n: (
        RANGE
        + "".join(f"ds = tf.data.Dataset.zip((ds, ds.skip({i})))\n" for i in range(n))
        + "print(len(list(ds)))\n"
    ),
    "a helper that many call": lambda n: (
        "def ready(ds, size):\n    return ds.map(tf.square).shuffle(3000).batch(size)\n"
        + "".join(
            f"for x in ready(tf.data.Dataset.range({i + 5000}), 4).prefetch(64):\n    print(x)\n"
            for i in range(n)
        )
    ),
    "helpers of helpers": lambda n: (
        "".join(f"def h{i}(ds):\n    return h{i + 1}(ds.map(tf.square))\n" for i in range(n))
        + f"def h{n}(ds):\n    return ds.shuffle(3000).batch(4)\n"
        + RANGE
        + "for x in h0(ds):\n    print(x)\n"
    ),
    "classes with pipelines": lambda n: "".join(
        f"class D{i}:\n    def __init__(self):\n"
        f"        self.ds = tf.data.Dataset.range(9000).map(tf.square).batch(4).shuffle(3000)\n"
        f"    def run(self):\n        return list(self.ds)\nD{i}().run()\n"
        for i in range(n)
    ),
    "attributes of one object": lambda n: (
        "class D:\n    def __init__(self):\n"
        + "".join(
            f"        self.d{i} = tf.data.Dataset.range(9000).shuffle({i + 100})\n"
            for i in range(n)
        )
        + "    def run(self):\n"
        + "".join(f"        print(list(self.d{i}.batch(4)))\n" for i in range(n))
    ),
    "entries of one dictionary": lambda n: (
        "all = {}\n"
        + "".join(f"all['{i}'] = tf.data.Dataset.range(9000).batch({i + 1})\n" for i in range(n))
        + "".join(f"print(list(all['{i}'].shuffle(99)))\n" for i in range(n))
    ),
    "loops in loops": lambda n: (
        "".join(f"{'  ' * min(i, 15)}for i{i} in range(9):\n" for i in range(min(n, 15)))
        + "".join(f"{'  ' * 15}kept = tf.concat([kept, [i{i % 15}]], 0)\n" for i in range(n))
    ),
    "lists that grow in one loop": lambda n: (
        "".join(f"l{i} = []\n" for i in range(n))
        + "for x in tf.data.Dataset.range(9000):\n"
        + "".join(f"    l{i}.append(tf.reduce_mean(x))\n" for i in range(n))
        + "".join(f"print(np.mean(l{i}))\n" for i in range(n))
    ),
    "one list that grows in many loops": lambda n: (
        "kept = []\n"
        + "".join(
            "for x in tf.data.Dataset.range(9000):\n    kept.append(tf.reduce_mean(x))\n"
            for _ in range(n)
        )
        + "print(np.mean(kept))\n"
    ),
    "models that predict in loops": lambda n: "".join(
        f"m{i} = tf.keras.Sequential([tf.keras.layers.Dense(4)])\n"
        f"for x in rows:\n    print(m{i}.predict(x))\n"
        for i in range(n)
    ),
    "layers of one model": lambda n: (
        "m = tf.keras.Sequential()\n"
        + "".join(f"m.add(tf.keras.layers.Dense({i + 8}))\n" for i in range(n))
        + "m.compile('adam', 'mse')\nfor x in rows:\n    m.predict(x)\nm.fit(rows)\n"
    ),
    "layers that are called": lambda n: (
        "x = first = tf.keras.Input([64])\n"
        + "".join("x = tf.keras.layers.Dense(64)(x)\n" for _ in range(n))
        + "m = tf.keras.Model(first, x)\nfor x in rows:\n    m.predict(x)\n"
    ),
    "calls of one traced function": lambda n: (
        "@tf.function\ndef f(x, n):\n    return x * n\n"
        + "".join(f"print(f(tf.ones([{i + 1}]), {i}))\n" for i in range(n))
    ),
    "traced functions that call each other": lambda n: (
        "".join(f"@tf.function\ndef f{i}(x):\n    return f{i + 1}(x) + 1\n" for i in range(n))
        + f"@tf.function\ndef f{n}(x):\n    return x * np.ones((999, 999), np.float32)\nf0(rows)\n"
    ),
    "functions wrapped in loops": lambda n: "".join(
        f"def f{i}(x):\n    return x * 2\nfor k in range(99):\n    print(tf.function(f{i})(k))\n"
        for i in range(n)
    ),
    "sums of stacks": lambda n: "".join(
        f"s{i} = tf.reduce_sum(tf.stack([tf.ones([9999]) * {i}, rows]), 0)\n" for i in range(n)
    ),
    "one sum of many": lambda n: (
        "s = " + " + ".join(f"tf.ones([9999]) * {i}" for i in range(n)) + "\nprint(s)\n"
    ),
    "arrays cast and joined": lambda n: (
        "a = np.zeros((0, 4))\nfor k in range(9000):\n"
        + "".join(f"    a = np.concatenate([a, np.ones((1, 4)) * {i}])\n" for i in range(n))
        + "print(tf.constant(a))\n"
    ),
    "sizes that lead to sizes": lambda n: (
        "n0 = 4096\n"
        + "".join(f"n{i + 1} = n{i} + 1\n" for i in range(n))
        + f"t = np.ones((n{n}, 256), np.float32)\n@tf.function\ndef f(x):\n"
        + "    return tf.gather(t, x)\nfor k in range(9):\n    f(k)\n"
    ),
    "generators that load": lambda n: "".join(
        f"def g{i}():\n    rows = [np.load(p) for p in paths]\n    yield from rows\n"
        f"d{i} = tf.data.Dataset.from_generator(g{i}, tf.float32).batch(4)\n"
        for i in range(n)
    ),
    "imports and aliases": lambda n: (
        "".join(f"import tensorflow as t{i}\n" for i in range(n))
        + "".join(f"print(list(t{i}.data.Dataset.range(9).shuffle(4)))\n" for i in range(n))
    ),
    "suppressions": lambda n: "".join(
        f"d{i} = tf.data.Dataset.range(9000).batch(4).shuffle(3000)  # noqa: TFM202\n"
        for i in range(n)
    ),
}


def calls(source: str) -> int:
    """How many functions are called to lint a program."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    lint("code.py", source, RULES)  # what is imported is imported
    sys.setprofile(counted)
    try:
        lint("code.py", source, RULES)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("shape", SHAPES)
def test_work_grows_as_a_shape_does(shape: str) -> None:
    numbers = (2 * FEW, 2 * MANY) if shape in LONG else (FEW, MANY)
    few, many = (calls(START + SHAPES[shape](number)) for number in numbers)

    assert many < 2.6 * few, f"{few} calls for {numbers[0]}, {many} for {numbers[1]}"
