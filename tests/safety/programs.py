"""Small programs that a safe fix may be offered for, made of templates and of what an adversary adds.

Nothing here asks the tool what it takes for safe. Each program is a rule's pattern in some shape,
between statements that may have nothing to do with it, or may spoil it: state that changes under
another name, errors in the midst, names that mean something else, somebody who looks at the object.
"""

# Programs stand in the lines that they are given.
# ruff: noqa: E501

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import NamedTuple

Choose = Callable[[Sequence[str]], str]
"""Takes one of several: at random, or as hypothesis wants it."""

HEAD = "import numpy as np\nimport tensorflow as tf\n"


class Program(NamedTuple):
    """A program, and the rule whose pattern it holds."""

    code: str
    text: str


def program(choose: Choose, code: str | None = None) -> Program:
    """One program, of a rule's or of any."""
    code = code or choose(sorted(MAKERS))
    mostly = choose(("plain", "plain", "odd", "mixed"))
    picks = choose if mostly == "mixed" else _mostly(choose, "odd" if mostly == "odd" else "plain")
    return Program(code, HEAD + MAKERS[code](picks))


def _mostly(choose: Choose, kind: str) -> Choose:
    """Prefers what comes first, which is plain: much or, where something is to be odd, little."""
    first = ("first",) * (3 if kind == "plain" else 1)

    def pick(several: Sequence[str]) -> str:
        if choose((*first, "any")) == "first":
            return several[0]
        return choose(several)

    return pick


def _several(choose: Choose, *options: str, seldom: Sequence[str] = ()) -> str:
    """One of some statements, seldom one of others, often nothing."""
    kind = choose(("none", "none", "plain", "plain", "odd"))
    if kind == "none" or (kind == "odd" and not seldom):
        return ""
    return choose(options if kind == "plain" else seldom)


def _put(template: str, **parts: str) -> str:
    """A template with its parts, each indented as the line that it stands for: `    <name>`."""
    lines: list[str] = []
    for line in template.strip("\n").splitlines():
        name = line.strip()
        if name.startswith("<") and name.endswith(">"):
            part = parts[name[1:-1]]
            if part:
                lines.append(textwrap.indent(part, line[: len(line) - len(name)]))
        else:
            for key, value in parts.items():
                line = line.replace(f"<{key}>", value)
            lines.append(line)
    return "\n".join(lines) + "\n"


PLAIN = (
    'print("begin")',
    "import math\nnote = math.floor(2.5)",
    "def helper(value):\n    return value",
    "class Box:\n    def __init__(self, value):\n        self.value = value\nbox = Box(3)",
    "words = ['a', 'b']\nwords.append('c')\nprint(len(words))",
    "total = 0\nfor k in range(3):\n    total += k\nprint(total)",
    "print([k * 2 for k in range(3)])",
    "settings = {'rate': 0.5}\nprint(settings['rate'])",
    "import time\nstarted = time.time()",
    "tf.random.set_seed(3)",
    "np.random.seed(3)",
)
ODD = (
    "globals()['SCALE'] = 3.0",
    "exec('SCALE = 3.0')",
    "import sys\nsetattr(sys.modules[__name__], 'SCALE', 3.0)",
    "import builtins\nbuiltins.sum = lambda *a: 41",
    "len = lambda value: 41",
    "def sum(*values):\n    return 41",
    "list = tuple",
    "from math import *",
    "tf.cast = tf.saturate_cast",
    "tf.keras.backend.set_floatx('float64')",
    "tf.config.run_functions_eagerly(True)",
    "tf.data.experimental.enable_debug_mode()",
    "np.set_printoptions(precision=3)",
    "locals()['SCALE'] = 2.0",
    "vars()['SCALE'] = 2.0",
    "for name in ('SCALE', 'OTHER'):\n    globals()[name] = 4.0",
)


def _plain(choose: Choose) -> str:
    return _several(choose, *PLAIN, seldom=ODD)


class _State(NamedTuple):
    """Something that a mapped function reads: how it is made, read, and changed."""

    made: str
    read: str
    changed: str


STATES = {
    "constant": _State("SCALE = 2.0", "SCALE", "pass"),
    "literal": _State("", "0.5", "pass"),
    "computed": _State("BASE = 4\nSCALE = 1.0 / BASE", "SCALE", "pass"),
    "tensor": _State("SCALE = tf.constant(0.25)", "SCALE", "pass"),
    "rebound later": _State("SCALE = 2.0", "SCALE", "SCALE = 3.0"),
    "variable": _State("V = tf.Variable(1.0)", "V", "V.assign_add(1.0)"),
    "variable by another name": _State("V = tf.Variable(1.0)\nW = V", "W", "V.assign_add(1.0)"),
    "in a dict": _State("S = {'a': tf.Variable(1.0)}", "S['a']", "S['a'].assign_add(1.0)"),
    "in a list": _State("S = [tf.Variable(1.0)]", "S[0]", "S[0].assign_add(1.0)"),
    "in a tuple": _State("S = (tf.Variable(1.0), 2)", "S[0]", "S[0].assign_add(1.0)"),
    "nested": _State(
        "S = {'a': {'b': tf.Variable(1.0)}}", "S['a']['b']", "S['a']['b'].assign_add(1.0)"
    ),
    "on an object": _State(
        "class O: pass\no = O()\no.v = tf.Variable(1.0)", "o.v", "o.v.assign_add(1.0)"
    ),
    "on a class": _State("class O:\n    v = tf.Variable(1.0)", "O.v", "O.v.assign_add(1.0)"),
    "number on a class": _State("class O:\n    v = 1.0", "O.v", "O.v += 1.0"),
    "by a property": _State(
        "v = tf.Variable(1.0)\nclass O:\n    @property\n    def now(self):\n        return v\no = O()",
        "o.now",
        "v.assign_add(1.0)",
    ),
    "number in a dict": _State("S = {'a': 1.0}", "S['a']", "S['a'] += 1.0"),
    "number in a nested list": _State("S = [[1.0]]\nrow = S[0]", "S[0][0]", "row[0] += 1.0"),
    "array": _State("S = np.ones(1, np.float32)", "S[0]", "S[0] += 1.0"),
    "array by a view": _State("S = np.ones(2, np.float32)\nview = S[:1]", "S[0]", "view += 1.0"),
    "layer": _State(
        "L = tf.keras.layers.Dense(1, kernel_initializer='ones')\nL.build([None, 1])",
        "L.kernel[0, 0]",
        "L.kernel.assign(L.kernel + 1.0)",
    ),
    "layer that is called": _State(
        "L = tf.keras.layers.Dense(1, kernel_initializer='ones')\nL.build([None, 1])",
        "L(tf.ones([1, 1]))[0, 0]",
        "L.kernel.assign(L.kernel + 1.0)",
    ),
    "optimizer": _State(
        "opt = tf.keras.optimizers.SGD(0.5)",
        "tf.convert_to_tensor(opt.learning_rate)",
        "opt.learning_rate = opt.learning_rate + 1.0",
    ),
    "metric": _State(
        "m = tf.keras.metrics.Sum()\nm.update_state(1.0)", "m.result()", "m.update_state(1.0)"
    ),
    "file": _State(
        "import pathlib\npathlib.Path('s.txt').write_text('1')",
        "tf.strings.to_number(tf.io.read_file('s.txt'))",
        "pathlib.Path('s.txt').write_text('3')",
    ),
    "global in a function": _State(
        "SCALE = 2.0\ndef grow():\n    global SCALE\n    SCALE += 1.0", "SCALE", "grow()"
    ),
    "by a helper": _State(
        "V = tf.Variable(1.0)\ndef now():\n    return V", "now()", "V.assign_add(1.0)"
    ),
    "by a default": _State(
        "V = tf.Variable(1.0)\ndef now(v=V):\n    return v", "now()", "V.assign_add(1.0)"
    ),
    "by partial": _State(
        "import functools\nV = tf.Variable(1.0)\nnow = functools.partial(tf.multiply, V)",
        "now(1.0)",
        "V.assign_add(1.0)",
    ),
    "copy": _State(
        "import copy\nV = [tf.Variable(1.0)]\nC = copy.copy(V)", "C[0]", "V[0].assign_add(1.0)"
    ),
    "random": _State("", "tf.random.uniform([], seed=5)", "pass"),
    "drawn by a generator": _State(
        "g = tf.random.Generator.from_seed(1)", "g.uniform([])", "g.uniform([])"
    ),
    "stateless": _State("", "tf.random.stateless_uniform([], [1, 2])", "pass"),
    "counted in Python": _State(
        "seen = [0.0]\ndef count():\n    seen[0] += 1.0\n    return np.float32(seen[0])",
        "tf.numpy_function(count, [], tf.float32)",
        "seen[0] += 10.0",
    ),
    "a table": _State(
        "table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, 1.0)",
        "table.lookup(tf.constant([1], tf.int64))[0]",
        "table.insert(tf.constant([1], tf.int64), tf.constant([7.0]))",
    ),
}
HARMLESS = ("constant", "literal", "computed", "tensor", "stateless")
FAILS = (
    "tf.debugging.check_numerics(1.0 / (tf.cast(i, tf.float32) - 37.0), 'bad')",
    "tf.cast(1000 // (i - 37), tf.float32)",
    "tf.gather(tf.ones([30]), i)",
    "tf.strings.to_number(tf.where(i == 37, 'x', '1'))",
    "tf.ones([i - 37 + 64])[0]",
)


def _state(choose: Choose) -> _State:
    odd = choose(("no", "no", "yes"))
    return STATES[choose(tuple(STATES) if odd == "yes" else HARMLESS)]


def _mapped(choose: Choose, size: str, state: _State) -> tuple[str, str]:
    """What defines a function of a number that makes a picture of it, and how it is given."""
    value = f"tf.cast(i % 256, tf.float32) * {state.read}"
    fails = choose(("no",) * 9 + ("yes",))
    if fails == "yes":
        value = f"{value} + {choose(FAILS)}"
    made = f"tf.fill([{size}], {value})"
    form = choose(("lambda", "def", "steps", "nested", "traced", "method", "assigned", "branch"))
    if form == "lambda":
        return "", f"lambda i: {made}"
    if form == "assigned":
        return f"image = lambda i: {made}", "image"
    if form == "steps":
        body = f"value = {value}\npicture = tf.fill([{size}], value)\nreturn picture"
        return f"def image(i):\n{textwrap.indent(body, '    ')}", "image"
    if form == "branch":
        body = f"value = {value}\nif value > 100.0:\n    value = value - 100.0\nreturn tf.fill([{size}], value)"
        return f"def image(i):\n{textwrap.indent(body, '    ')}", "image"
    if form == "nested":
        return (
            f"def level(i):\n    return {value}\n\ndef image(i):\n    return tf.fill([{size}], level(i))",
            "image",
        )
    if form == "method":
        return (
            f"class Images:\n    def image(self, i):\n        return {made}\nimages_of = Images()",
            "images_of.image",
        )
    decorator = "@tf.function\n" if form == "traced" else ""
    return f"{decorator}def image(i):\n    return {made}", "image"


LOOKS = (
    "print(type(ds).__name__)",
    "print(ds)",
    "print(repr(ds)[:30])",
    "print(hasattr(ds, '_buffer_size'))",
    "print(ds._flat_shapes if hasattr(ds, '_flat_shapes') else 0)",
    "kept = [ds]\nprint(type(kept[0]).__name__)",
    "def show(d):\n    print(type(d).__name__)\nshow(ds)",
    "print(type(ds.take(1)._input_dataset).__name__)",
    "it = iter(ds)\nprint(type(it).__name__, it.element_spec)",
    "print(len(ds._inputs()))",
    "print(isinstance(ds, tf.data.Dataset), ds.element_spec)",
    "print(int(tf.data.experimental.cardinality(ds)))",
    "print(int(ds.cardinality()))",
)


def _consumed(choose: Choose, changed: str, take: str = "6") -> str:
    """What goes over `ds`: in one epoch or several, up to the end or not, in a `try` or not."""
    shown = "round(float(tf.reduce_mean(tf.cast(b, tf.float32))), 4)"
    form = choose(
        ("epochs", "epochs", "break", "next", "list", "try", "function", "enumerate", "fit", "zip")
    )
    looks = _several(choose, LOOKS[-1], LOOKS[-2], seldom=LOOKS)
    if form == "epochs":
        text = f"""
for epoch in range(3):
    print([{shown} for b in ds.take({take})])
    <changed>
"""
    elif form == "break":
        text = f"""
for epoch in range(2):
    for n, b in enumerate(ds):
        print({shown})
        <changed>
        if n == 4:
            break
"""
    elif form == "next":
        text = f"""
it = iter(ds)
for n in range(5):
    b = next(it)
    print({shown})
    <changed>
"""
    elif form == "list":
        text = f"""
for b in list(ds.take({take})):
    print({shown})
    <changed>
"""
    elif form == "try":
        text = f"""
n = 0
try:
    for b in ds:
        n += 1
        <changed>
        if n % 8 == 0:
            print({shown})
except tf.errors.OpError as error:
    print("failed after", n)
print(n)
"""
    elif form == "function":
        text = f"""
def run(d):
    shown = []
    for b in d.take({take}):
        shown.append({shown})
        <changed>
    return shown
print(run(ds))
print(run(ds))
"""
        if "SCALE = " in changed or "global" in changed:
            changed = "pass"
    elif form == "fit":
        text = f"""
class Watch(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        <changed>
model = tf.keras.Sequential([tf.keras.layers.Flatten(), tf.keras.layers.Dense(1, kernel_initializer="zeros")])
model.compile(tf.keras.optimizers.SGD(1e-9), "mse")
pairs = ds.map(lambda x: (x, tf.reduce_mean(x)))
try:
    history = model.fit(pairs.take({take}), verbose=0, callbacks=[Watch()])
    print([round(v, 2) for v in history.history["loss"]])
except Exception as error:
    print(type(error).__name__)
"""
        if "SCALE = " in changed or "global" in changed:
            changed = "pass"
    elif form == "zip":
        text = f"""
for n, b in zip(range({take}), ds):
    print(n, {shown})
    <changed>
"""
    else:
        text = f"""
for n, b in enumerate(ds.take({take})):
    print(n, {shown})
    <changed>
"""
    return (looks + "\n" if looks else "") + _put(text, changed=changed)


def _pipeline(choose: Choose, size: str, steps: Sequence[str], take: str = "6") -> str:
    """A pipeline of pictures with some steps, in one expression or several statements."""
    state = _state(choose)
    made, given = _mapped(choose, size, state)
    shape = choose(("fluent", "statements", "function", "pair"))
    count = choose(("400", "640", "COUNT"))
    calls = [each.replace("<image>", given) for each in steps]
    source = choose(
        (
            f"tf.data.Dataset.range({count})",
            f"tf.data.Dataset.range({count})",
            f"tf.data.Dataset.from_tensor_slices(np.arange({count}, dtype=np.int64))",
            f"tf.data.Dataset.from_tensor_slices(list(range({count})))",
            "tf.data.Dataset.from_generator(lambda: iter(range(400)), output_signature=tf.TensorSpec([], tf.int64))",
        )
    )
    if shape == "fluent":
        chain = f"ds = {source}" + "".join(f".{each}" for each in calls)
    elif shape == "statements":
        chain = f"ds = {source}\n" + "\n".join(f"ds = ds.{each}" for each in calls)
    else:
        more = choose((", ds.take(2)", ", COUNT")) if shape == "pair" else ""
        inner = f"ds = {source}\n" + "\n".join(f"ds = ds.{each}" for each in calls)
        inner += f"\nreturn ds{more}"
        given = "ds, other" if more else "ds"
        chain = f"def make():\n{textwrap.indent(inner, '    ')}\n{given} = make()"
    return "\n".join(
        each
        for each in (
            "COUNT = 512",
            state.made,
            made,
            _plain(choose),
            chain,
            _plain(choose),
            _consumed(choose, state.changed, take),
            _several(choose, 'print("end")', seldom=LOOKS),
        )
        if each
    )


def _tfm201(choose: Choose) -> str:
    buffer = choose(("256", "300", "COUNT", "sized"))
    shuffle = choose(
        (
            f"shuffle({buffer}, seed=1)",
            f"shuffle({buffer}, seed=1, reshuffle_each_iteration=False)",
            f"shuffle(buffer_size={buffer}, seed=7)",
        )
    )
    after = choose(
        ("batch(4)", "take(20)", "batch(4, drop_remainder=True)", "take(12)", "repeat(2)")
    )
    parallel = choose(("", "", ", num_parallel_calls=tf.data.AUTOTUNE", ", num_parallel_calls=2"))
    text = _pipeline(choose, "128, 128, 3", [f"map(<image>{parallel})", shuffle, after], "3")
    sized = "tf.data.experimental.cardinality(tf.data.Dataset.range(300)).numpy()"
    return (f"sized = {sized}\n" if buffer == "sized" else "") + text


def _tfm205(choose: Choose) -> str:
    repeat = choose(("repeat(2)", "repeat(3)", "repeat()", "repeat(count=2)"))
    after = choose(("batch(4)", "take(40)", "prefetch(1)"))
    return _pipeline(choose, "8, 8, 3", ["map(<image>)", repeat, "cache()", after])


def _tfm206(choose: Choose) -> str:
    take = choose(("take(8)", "take(24)", "take(count=8)"))
    after = choose(("batch(4)", "prefetch(1)", "repeat(2)"))
    between = choose(("", "", "map(lambda x: x + 1.0)"))
    steps = ["map(<image>)", "cache()", *([between] if between else []), take, after]
    return _pipeline(choose, "8, 8, 3", steps)


def _tfm207(choose: Choose) -> str:
    batch = choose(("batch(8)", "batch(16)", "batch(8, drop_remainder=True)"))
    first = choose(("map(<image>)", "map(<image>, num_parallel_calls=2)"))
    last = choose(("prefetch(64)", "prefetch(40)", "prefetch(buffer_size=64)"))
    middle = choose(("", "", "shuffle(16, seed=3)", "filter(lambda x: x[0, 0, 0] > 2.0)"))
    steps = [first, *([middle] if middle else []), batch, last]
    return _pipeline(choose, "64, 64, 3", steps)


def _tfm208(choose: Choose) -> str:
    last = choose(("prefetch(400)", "prefetch(300)"))
    return _pipeline(choose, "64, 64, 3", ["map(<image>)", last, "batch(8)"])


def _tfm210(choose: Choose) -> str:
    calls = choose(("64", "32", "num"))
    text = _pipeline(
        choose, "128, 128, 3", [f"map(<image>, num_parallel_calls={calls})", "batch(4)"], "4"
    )
    return ("num = 48\n" if calls == "num" else "") + text


def _tfm212(choose: Choose) -> str:
    state = _state(choose)
    cast = choose(
        (
            "lambda x: tf.cast(x, tf.float32) / 255.0",
            f"lambda x: tf.cast(x, tf.float32) * {state.read}",
            "lambda x: tf.image.convert_image_dtype(x, tf.float32)",
            "lambda x: tf.cast(x, tf.float32)",
            "lambda x: tf.cast(x, tf.float32) / [1.0, 2.0, 3.0]",
            "lambda x: (tf.cast(x, tf.float32) - 127.5) / 127.5",
            "lambda x: tf.cast(x, tf.float32) / tf.constant([1.0, 2.0, 3.0])",
        )
    )
    after = choose(("shuffle(64, seed=1)", "batch(4)", "batch(8, drop_remainder=True)", "take(40)"))
    return _put(
        """
<made>
<plain>
ds = tf.data.Dataset.range(1100).map(lambda i: tf.fill([64, 64, 3], tf.cast(i, tf.uint8)))
ds = ds.map(<cast>).cache().<after>
<more>
<consumed>
""",
        made=state.made,
        plain=_plain(choose),
        cast=cast,
        after=after,
        more=_several(choose, LOOKS[-1], seldom=LOOKS),
        consumed=_consumed(choose, state.changed, "4"),
    )


def _tfm214(choose: Choose) -> str:
    state = _state(choose)
    made, given = _mapped(choose, "4", state)
    use = choose(("count", "count", "loop", "loop", "comprehension", "walrus", "shadow", "error"))
    steps = choose(("", ".batch(4)", ".filter(lambda x: x[0] >= 0.0)"))
    text = {
        "count": "n = len(list(ds))\nprint(n)",
        "comprehension": "n = len([x for x in ds])\nprint(n)",
        "walrus": "n = len(list(d := ds))\nprint(n, d is ds)",
        "shadow": "def count(sum):\n    return len(list(ds)) + sum\nprint(count(1))",
        "loop": "t = 0.0\nfor x in list(ds):\n    t += float(tf.reduce_sum(x))\n    <changed>\nprint(round(t, 2))",
        "error": "n = 0\ntry:\n    for x in list(ds):\n        n += 1\nexcept tf.errors.OpError:\n    print('failed')\nprint(n)",
    }[use]
    return _put(
        """
<state>
<made>
<plain>
ds = tf.data.Dataset.range(300).map(<given>)<steps>
<more>
<use>
""",
        state=state.made,
        made=made,
        plain=_plain(choose),
        given=given,
        steps=steps,
        more=_plain(choose),
        use=_put(text, changed=state.changed),
    )


def _tfm217(choose: Choose) -> str:
    state = _state(choose)
    cast = choose(("", "", f".map(lambda x: x * {state.read})"))
    after = choose(
        (".batch(8)", ".batch(4)", ".batch(8).prefetch(1)", ".shuffle(9, seed=1).batch(8)")
    )
    before = choose(("pass", "print('epoch', e)", "extra = e", "data[0] += 1.0", "view[0] += 1.0"))
    data = choose(
        (
            "data = np.arange(64.0, dtype=np.float32)",
            "data = np.arange(64.0, dtype=np.float32)\nprint(data.sum())",
            "data = np.arange(64.0, dtype=np.float32)\nview = data.reshape(-1)",
            "data = np.arange(64.0, dtype=np.float32)\nview = data",
            "view = np.arange(128.0, dtype=np.float32)\ndata = view[:64]",
            "data = np.ones([64], np.float32)",
        )
    )
    if "view" in before and "view" not in data:
        before = "pass"
    seen = choose(("", "", "seen.append(ds)", "print(type(ds).__name__)"))
    rounds = choose(("range(4)", "range(3)", "range(0)", "[1, 2, 3, 4]"))
    end = choose(("", "", "print('ds' in dir())", "print(len(seen), len(set(map(id, seen))))"))
    return _put(
        """
seen = []
<state>
<data>
<plain>
for e in <rounds>:
    <before>
    ds = tf.data.Dataset.from_tensor_slices(data)<cast><after>
    s = 0.0
    for b in ds:
        s += float(tf.reduce_sum(b))
    print(s)
    <seen>
    <changed>
<end>
""",
        state=state.made,
        data=data,
        plain=_plain(choose),
        rounds=rounds,
        before=before,
        cast=cast,
        after=after,
        seen=seen,
        changed=state.changed,
        end=end,
    )


def _tfm223(choose: Choose) -> str:
    state = _state(choose)
    made = "tf.signal.dct(x)"
    x = choose((made, f"{made} * {state.read} * 1e-3", f"tf.cast({made}, tf.float32)"))
    given = choose((f"lambda x, y: ({x}, y)", f"lambda x, y: ({x}, y * 1.0)"))
    looks = _several(choose, LOOKS[-1], seldom=LOOKS)
    train = choose(
        (
            "h = model.fit(ds, verbose=0)\nprint(h.history['loss'])",
            "h = model.fit(ds, epochs=2, verbose=0, callbacks=[Watch()])\nprint(h.history['loss'])",
            "print(model.evaluate(ds, verbose=0))",
            "print(float(model.predict(ds.map(lambda x, y: x), verbose=0).sum()))",
            """opt = tf.keras.optimizers.SGD(0.01)
for x, y in ds:
    with tf.GradientTape() as t:
        loss = tf.reduce_mean((model(x)[:, 0] - y) ** 2)
    g = t.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(g, model.trainable_variables))
    <changed>
print(float(loss))""",
        )
    )
    return _put(
        """
<state>
model = tf.keras.Sequential([tf.keras.Input([8]), tf.keras.layers.Dense(1, kernel_initializer="ones")])
model.compile("sgd", "mse")
class Watch(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        <watched>
<plain>
x_all = np.ones([2048, 8], np.float32)
y_all = np.ones(2048, np.float32)
ds = tf.data.Dataset.from_tensor_slices((x_all, y_all)).map(<given>).batch(256)
<looks>
<train>
""",
        state=state.made,
        watched="pass" if "SCALE = " in state.changed else state.changed,
        plain=_plain(choose),
        given=given,
        looks=looks,
        train=_put(train, changed=state.changed),
    )


TAPE_LOOKS = (
    "print(sorted(v.name for v in tape.watched_variables()))",
    "print(tape._persistent)",
    "print([float(t.gradient(y, x)) for t in [tape]])",
    "again = tape\nprint(float(again.gradient(y, x)))",
    "print(float(tape.gradient(z, x)))",
    "del tape",
    "print(type(tape).__name__)",
)


def _tfm402(choose: Choose) -> str:
    loss = choose(("x * x * x", "tf.square(x) * 2.0", "tf.exp(x * 0.1)"))
    body = choose(
        (
            f"y = {loss}",
            f"tape.watch(c)\ny = {loss} + c",
            f"y = {loss}\nz = y * 2.0",
            f"hidden = {loss}\ny = hidden + 1.0",
        )
    )
    form = choose(
        (
            "straight",
            "loop",
            "function",
            "inside",
            "last",
            "condition",
            "flag",
            "while",
            "try",
            "generator",
            "global",
            "comprehension",
            "other",
            "else",
            "match",
            "nested",
            "method",
            "two",
            "closure",
            "class",
            "late",
            "twice",
            "rebound",
            "continue",
            "finally",
        )
    )
    forms = {
        "straight": "<tape>\ng = tape.gradient(y, x)\nprint(float(g))",
        "loop": "for k in range(3):\n    <tape>\n    x.assign_sub(0.1 * tape.gradient(y, x))\n    print(round(float(x), 5))",
        "function": "def step():\n    <tape>\n    return tape.gradient(y, x)\nprint(float(step()), float(step()))",
        "inside": "<tape>\n    g = tape.gradient(y, x)\n    h = y * 3.0\nprint(float(g))\n<looks>",
        "last": "<tape>\n    g = tape.gradient(y, x)\nprint(float(g))",
        "condition": "for k in range(4):\n    if k % 2 == 0:\n        <tape>\n    print(float(tape.gradient(y, x)))",
        "flag": "FIRST = True\nfor k in range(3):\n    if FIRST:\n        <tape>\n        FIRST = False\n    print(float(tape.gradient(y, x)))",
        "while": "k = 0\n<tape>\nwhile k < 3 and float(tape.gradient(y, x)) > k:\n    k += 1\nprint(k)",
        "try": "for k in range(2):\n    try:\n        if k:\n            raise ValueError\n        <tape>\n    except ValueError:\n        pass\n    print(float(tape.gradient(y, x)))",
        "generator": "def gradients(n):\n    for k in range(n):\n        <tape>\n        yield float(tape.gradient(y, x))\nprint(list(gradients(3)))",
        "global": "def step(record):\n    global tape, y\n    if record:\n        <tape>\n    return float(tape.gradient(y, x))\nprint(step(True), step(False))",
        "comprehension": "<tape>\nprint([float(tape.gradient(y, x)) for _ in range(2)])",
        "other": "<tape>\ng = tape.gradient(y, x)\nwith tf.GradientTape() as tape:\n    y = x * 5.0\nprint(float(g), float(tape.gradient(y, x)))",
        "else": "for k in range(2):\n    <tape>\nelse:\n    print(float(tape.gradient(y, x)))",
        "match": "for k in range(3):\n    match k:\n        case 0:\n            <tape>\n    print(float(tape.gradient(y, x)))",
        "nested": "with tf.GradientTape() as outer:\n    <tape>\n    g = tape.gradient(y, x)\nprint(float(g), outer.gradient(g, x))",
        "method": "class T:\n    def step(self):\n        <tape>\n        return tape.gradient(y, x)\nt = T()\nprint(float(t.step()), float(t.step()))",
        "two": "<tape>\ng = tape.gradient(y, x)\nh = tape.gradient(y, x)\nprint(float(g), float(h))",
        "closure": "<tape>\ndef ask():\n    return tape.gradient(y, x)\nprint(float(ask()), float(ask()))",
        "class": "class H:\n    <tape>\n    g = tape.gradient(y, x)\nprint(float(H.g), hasattr(H, 'tape'))\nprint(float(H.tape.gradient(H.y, x)))",
        "late": "<tape>\nprint(float(y))\nx.assign_add(1.0)\nif float(y) > 0:\n    print(float(tape.gradient(y, x)))",
        "twice": "for k in range(2):\n    if k == 0:\n        <tape>\n    g = tape.gradient(y, x)\n    print(float(g))",
        "rebound": "<tape>\nkeep = tape\nprint(float(tape.gradient(y, x)))\nprint(float(keep.gradient(y, x)))",
        "continue": "for k in range(4):\n    if k in (1, 3):\n        print(float(tape.gradient(y, x)))\n        continue\n    <tape>",
        "finally": "try:\n    <tape>\nfinally:\n    print(float(tape.gradient(y, x)))",
    }
    block = "with tf.GradientTape(persistent=True) as tape:\n" + textwrap.indent(body, "    ")
    if choose(("no", "no", "yes")) == "yes":
        block = block.replace("persistent=True", "persistent=True, watch_accessed_variables=True")
    looks = _several(choose, "print(float(y))", seldom=TAPE_LOOKS)
    text = _put(forms[form], tape=block, looks="")
    return _put(
        """
<plain>
x = tf.Variable(3.0, name="x")
c = tf.constant(2.0)
<text>
<looks>
""",
        plain=_plain(choose),
        text=text.rstrip(),
        looks=looks,
    )


FUNCTION_LOOKS = (
    "print(f.experimental_get_tracing_count())",
    "print(type(f).__name__)",
    "g = f\nprint(g is f)",
    "print(len(f.pretty_printed_concrete_signatures()) > 0)",
    "fs = [f]\nprint(len(fs))",
    "print(hasattr(f, 'python_function'))",
    "f.note = 3",
    "print(f.get_concrete_function(*SPEC).name[:5])",
)


def _tfm101(choose: Choose) -> str:
    state = _state(choose)
    body = choose(
        (
            "return x * 2.0",
            "return x * 2.0, tf.cast(step, tf.int64)",
            "return x + tf.cast(tf.cast(step, tf.int64) * 3 + 1, tf.float32)",
            "now.assign(tf.cast(step, tf.int64))\nreturn x + 1.0",
            "return tf.cast(step, tf.int32) + 7",
            "return x / (1.0 - tf.pow(0.9, tf.cast(step, tf.float32)))",
            "return tf.where(tf.cast(step, tf.int64) > 3, x, -x)",
            "return x * (0.1 + 0.01 * tf.cast(step, tf.float32))",
            f"return x * {state.read}",
            f"y = x * {state.read}\nreturn y, tf.cast(step, tf.int32)",
            "print('tracing')\nreturn x * 2.0",
            "trace.append(1)\nreturn x * 2.0",
            "return x * tf.random.uniform([], seed=3)",
            "return x * 2.0 if flag else x",
            "global calls\ncalls += 1\nreturn x * 1.0",
        )
    )
    call = choose(("f(x, step)", "f(x, step)", "f(x, step=step)", "f(x, step, flag=step % 2 == 0)"))
    counted = choose(("range(12)", "range(20)"))
    form = choose(("function", "function", "wrapped", "method"))
    if form == "method":
        define = "class M:\n    @tf.function\n    def f(self, x, step, flag=True):\n        <body>\nm = M()"
        call = call.replace("f(", "m.f(", 1)
    elif form == "wrapped":
        define = "def plain(x, step, flag=True):\n    <body>\nf = tf.function(plain)"
    else:
        define = "@tf.function\ndef f(x, step, flag=True):\n    <body>"
    looks = _several(choose, "print(len(trace))", seldom=FUNCTION_LOOKS)
    if form == "method":
        looks = looks.replace("f.", "m.f.").replace("(f", "(m.f")
    return _put(
        """
trace, calls = [], 0
x = tf.constant(np.random.default_rng(0).random(16), tf.float32)
now = tf.Variable(0, dtype=tf.int64)
<state>
<define>
<plain>
acc = []
for step in <counted>:
    out = <call>
    acc.append([np.asarray(each).tobytes().hex() for each in tf.nest.flatten(out)])
    <changed>
print(acc[::3], int(now), len(trace), calls)
<looks>
""",
        state=state.made,
        define=_put(define, body=body),
        plain=_plain(choose),
        counted=counted,
        call=call,
        changed=state.changed,
        looks=looks.replace("*SPEC", "x, 1"),
    )


def _tfm102(choose: Choose) -> str:
    state = _state(choose)
    body = choose(
        (
            "return x * 2.0",
            f"return x * {state.read}",
            "return tf.reduce_sum(model(x))",
            "return x + w",
            "w.assign_add(1.0)\nreturn x * w",
            "return tf.reduce_sum(x) / float(x.shape[0])",
            "with tf.GradientTape() as t:\n    loss = tf.reduce_mean(model(x) ** 2)\ng = t.gradient(loss, model.trainable_variables)\nopt.apply_gradients(zip(g, model.trainable_variables))\nreturn loss",
            "trace.append(1)\nreturn x * 1.0",
            "return x * float(len(trace))",
            "return x * 2.0 if k else x",
        )
    )
    decorator = choose(
        (
            "@tf.function",
            "@tf.function",
            "@tf.function(reduce_retracing=True)",
            "@tf.function(jit_compile=False)",
        )
    )
    given = choose(("x", "x", "x * 1.0", "tf.ones([e + 2, 2])", "e", "float(e)", "x.numpy()"))
    before = choose(
        ("pass", "pass", "print('round')", "trace.append(0)", "layer.trainable = e % 2 == 0")
    )
    loop = choose(("for e in range(20):", "for e in range(18):"))
    looks = _several(choose, "print(len(trace))", seldom=FUNCTION_LOOKS)
    inner = _several(
        choose, "print(e)", seldom=("fs.append(f)", "print(id(f) in seen)\nseen.add(id(f))")
    )
    return _put(
        """
trace, fs, seen = [], [], set()
k = 0
x = tf.constant([[1.0, 2.0]])
w = tf.Variable(1.0)
layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
model = tf.keras.Sequential([tf.keras.Input([2]), layer])
opt = tf.keras.optimizers.SGD(0.01)
<state>
<plain>
acc = []
<loop>
    <before>
    <decorator>
    def f(x):
        <body>
    acc.append(np.asarray(f(<given>)).tobytes().hex())
    <inner>
    <changed>
print(acc[::4])
<looks>
""",
        state=state.made,
        plain=_plain(choose),
        loop=loop,
        before=before,
        decorator=decorator,
        body=body,
        given=given,
        inner=inner,
        changed=state.changed,
        looks=looks.replace("*SPEC", "x"),
    )


def _tfm105(choose: Choose) -> str:
    body = choose(
        (
            "return tf.gather(table, ids)",
            "return tf.gather(table, ids)",
            "return tf.nn.embedding_lookup(table, ids)",
            "return tf.reduce_mean(tf.gather(table, ids), axis=0)",
            "rows = tf.gather(table, ids)\nreturn rows / 3.0 * 7.0",
            "return tf.gather(table, [1, 5, 9]) / 3.0",
            "return tf.divide(table, 3.0)[:3]",
            "return tf.where(table, 1.0, 0.0)[:2]",
            "return tf.matmul(tf.ones([1, 4096]), table)",
            "return table[:2] * tf.ones([2, 128])",
            "return tf.nn.softmax(table)[0]",
            "return tf.constant_initializer(table)([4096, 128])[0]",
            "return tf.gather(table, ids) * tf.random.uniform([3, 1], seed=1)",
            "return tf.cast(tf.is_tensor(table), tf.float32) + tf.gather(table, ids)",
            "return tf.gather(table * 1.5, ids) / 3.0",
        )
    )
    table = choose(
        (
            "table = np.random.default_rng(0).random((4096, 128), dtype=np.float32)",
            "table = np.ones((4096, 128), np.float32)",
            "base = np.ones((8192, 128), np.float32)\ntable = base[:4096]",
            "table = np.random.default_rng(0).random((4096, 128))",
            "table = np.arange(4096 * 128, dtype=np.float32).reshape(4096, 128)",
        )
    )
    more = _several(
        choose,
        "print(table.shape)",
        "print(float(table.max()))",
        seldom=(
            "table[1] = 9.0",
            "view = table.reshape(-1)\nview[:] = 2.0",
            "np.copyto(table, 3.0)",
            "table += 1.0",
            "for row in table[:3]:\n    row[:] = 5.0",
            "def wreck(t):\n    t[5] = 8.0\nwreck(table)",
            "np.multiply(table, 2.0, out=table)",
            "table.flat[200] = 5.0",
            "table.sort()",
            "other = table\nother[1] = 7.0",
            "np.random.default_rng(1).shuffle(table)",
        ),
    )
    calls = choose(
        (
            "print(f(ids).numpy().tobytes().hex()[:64])",
            "for k in range(3):\n    print(f(tf.constant([k, 5, 9])).numpy().tobytes().hex()[:64])",
            "print(f([1, 5, 9]).numpy().tobytes().hex()[:64])",
            "print(f(np.array([1, 5, 9])).numpy().tobytes().hex()[:64])",
            "for b in tf.data.Dataset.range(3).batch(3).map(f):\n    print(b.numpy().tobytes().hex()[:64])",
        )
    )
    later = _several(
        choose,
        "print('done')",
        seldom=(
            "print(f.get_concrete_function(tf.TensorSpec([3], tf.int32)).captured_inputs)",
            "m = tf.Module()\nm.f = f\ntf.saved_model.save(m, 'saved')",
            "print(type(f).__name__)",
        ),
    )
    setup = _several(
        choose,
        "tf.random.set_seed(7)",
        seldom=(
            "import pathlib, sys\npathlib.Path('gpus.py').write_text(\"import tensorflow as tf\\ndef setup():\\n    tf.config.set_logical_device_configuration(tf.config.list_physical_devices('CPU')[0], [tf.config.LogicalDeviceConfiguration()] * 2)\\n\")\nsys.path.insert(0, '')\nimport gpus",
        ),
    )
    return _put(
        """
<setup>
<plain>
<table>
<early>
@tf.function
def f(ids):
    <body>
ids = tf.constant([1, 5, 9])
<more>
<calls>
<more2>
<calls>
<later>
""",
        setup=setup,
        plain=_plain(choose),
        table=table,
        early="gpus.setup()" if "gpus" in setup else "",
        body=body,
        more=more,
        more2=_several(choose, "print('again')", seldom=("table[5] = -1.0", "table = table * 2.0")),
        calls=calls,
        later=later,
    )


def _tfm106(choose: Choose) -> str:
    body = choose(
        (
            "t = tf.zeros([128])\nfor b in tf.data.Dataset.from_tensor_slices(rows).batch(64).take(3):\n    t += tf.reduce_sum(b, 0)\nreturn t",
            "return tf.data.Dataset.from_tensor_slices(rows).batch(512).reduce(tf.zeros([128]), lambda a, b: a + tf.reduce_sum(b, 0))",
            "t = tf.zeros([128])\nfor b in tf.data.Dataset.from_tensor_slices(rows).shuffle(64, seed=1).batch(64).take(3):\n    t += tf.reduce_sum(b, 0)\nreturn t",
            "t = tf.zeros([128])\nfor b in tf.data.Dataset.from_tensor_slices(rows).shuffle(64).batch(64).take(3):\n    t += tf.reduce_sum(b, 0)\nreturn t",
            "t = tf.zeros([128])\nfor b in tf.data.Dataset.from_tensors(rows).take(1):\n    t += tf.reduce_sum(b, 0)\nreturn t",
        )
    )
    rows = choose(
        (
            "rows = np.random.default_rng(0).random((4096, 128), dtype=np.float32)",
            "rows = np.ones((4096, 128), np.float32)",
            "base = np.ones((8192, 128), np.float32)\nrows = base[:4096]\nbase[0] = 3.0",
        )
    )
    more = _several(
        choose,
        "print(rows.shape)",
        "print(float(rows.sum()))",
        seldom=("rows[1] = 9.0", "view = rows[:5]\nview[:] = 2.0", "rows += 1.0", "rows.fill(2.0)"),
    )
    form = choose(("function", "function", "method"))
    if form == "method":
        define, call = (
            "class M(tf.Module):\n    @tf.function\n    def f(self):\n        <body>\nm = M()",
            "m.f()",
        )
    else:
        define, call = "@tf.function\ndef f():\n    <body>", "f()"
    later = _several(
        choose,
        "print('done')",
        seldom=(
            f"{'m' if form == 'method' else 'm = tf.Module(); m.f = f; m'}\ntf.saved_model.save(m, 'saved')\nprint('saved')",
            f"print(len({call[:-2]}.get_concrete_function().captured_inputs))",
        ),
    )
    return _put(
        """
<plain>
<rows>
<define>
<more>
print(<call>.numpy().tobytes().hex()[:32])
<more2>
print(<call>.numpy().tobytes().hex()[:32])
<later>
""",
        plain=_plain(choose),
        rows=rows,
        define=_put(define, body=body),
        more=more,
        call=call,
        more2=_several(choose, "print('again')", seldom=("rows[0] = 7.0",)),
        later=later,
    )


def _tfm401(choose: Choose) -> str:
    read = choose(
        (
            "print(np.mean(losses))",
            "print(np.array(losses).tobytes().hex()[:32])",
            "print(np.std(losses), np.mean(losses))",
            "print(np.mean(losses))\nprint(losses[-1].dtype)",
            "print(sum(losses))",
            "print(np.asarray(losses).dtype, np.max(losses))",
            "print(np.sum(losses))\nprint(type(losses[0]).__name__)",
            "print(float(np.median(losses)))",
            "print(np.mean(losses, axis=0))",
            "print(np.array(losses, dtype=object)[0].__class__.__name__)",
        )
    )
    loss = choose(
        (
            "tf.reduce_mean((x - v) ** 2)",
            "tf.reduce_sum(tf.abs(x - v))",
            "step_loss(x)",
            "traced(x)",
            "tf.cast(tf.reduce_mean(x - v), tf.float16)",
            "w",
            "tf.reduce_mean((x - v) ** 2, keepdims=True)",
            "tf.square(x - v)",
            "mean.result()",
            "tf.reduce_mean(tf.cast(x - v, tf.float64))",
        )
    )
    keep = choose(
        ("losses.append(loss)", "losses.append(loss)", "losses += [loss]", "kept(losses, loss)")
    )
    inside = _several(
        choose,
        "pass",
        seldom=(
            "w.assign_add(1.0)",
            "alias = losses\nprint(len(alias))",
            "print(losses[-1].numpy())",
            "last = losses[-1]",
            "mean.update_state(loss)",
        ),
    )
    where = choose(("module", "function"))
    text = _put(
        """
losses = []
for k in range(1100):
    x = tf.cast(k, tf.float32)
    loss = <loss>
    if k % 25 == 0:
        v.assign_sub(1e-4 * tf.reduce_mean(tf.cast(loss, tf.float32)))
    <keep>
    <inside>
<read>
""",
        loss=loss,
        keep=keep,
        inside=inside,
        read=read,
    )
    if where == "function":
        text = (
            "def train():\n"
            + textwrap.indent(text, "    ")
            + "    return len(losses)\nprint(train())\n"
        )
        if choose(("no", "yes")) == "yes":
            text = text.replace("return len(losses)", "return 0")
    return _put(
        """
v = tf.Variable(1.0)
w = tf.Variable(1.0)
mean = tf.keras.metrics.Mean()
def kept(those, one):
    those.append(one)
def step_loss(x):
    return tf.reduce_mean((x - v) ** 2)
@tf.function
def traced(x):
    return tf.reduce_mean((x - v) ** 2)
<plain>
<text>
<end>
""",
        plain=_plain(choose),
        text=text.rstrip(),
        end=_several(
            choose,
            "print('end')",
            seldom=("print(type(losses[0]).__name__) if 'losses' in globals() else None",),
        ),
    )


def _tfm601(choose: Choose) -> str:
    made = choose(
        (
            "rng.integers(0, 256, size=(5000, 256), dtype=np.uint8)",
            "rng.integers(0, 60000, size=(5000, 256), dtype=np.uint16)",
            "rng.integers(-9, 9, size=(5000, 256))",
            "rng.integers(-128, 127, size=(5000, 256), dtype=np.int8)",
            "rng.random((5000, 256))",
            "rng.random((5000, 256), dtype=np.float32)",
            "rng.integers(0, 2**31 - 1, size=(5000, 256), dtype=np.int32)",
            "rng.integers(0, 2**62, size=(5000, 256))",
        )
    )
    number = choose(("255.0", "255", "127.5", "3", "0.1", "1e-3", "7.0", "256.0", "2", "100000.0"))
    op = choose(("/", "/", "*", "-", "+"))
    form = choose(
        (
            "x.astype('float32') {op} {n}",
            "x.astype(np.float32) {op} {n}",
            "(x {op} {n}).astype('float32')",
            "(x {op} {n}).astype(np.float32)",
            "(x.astype('float32') {op} {n}) {op} 2.0",
            "((x {op} {n}) * 2.0).astype('float32')",
            "{n} {op} x.astype('float32')",
            "x.astype('float32').reshape(-1, 16) {op} {n}",
        )
    ).format(op=op, n=number)
    return _put(
        """
<plain>
rng = np.random.default_rng(0)
x = <made>
<seldom>
y = <form>
print(y.dtype, y.shape, y.tobytes().hex()[:48], hash(y.tobytes()) if False else int(y.view(np.uint32).astype(np.uint64).sum()))
<more>
print(float(tf.reduce_mean(tf.constant(y[:8], tf.float32))))
""",
        plain=_plain(choose),
        made=made,
        seldom=_several(
            choose,
            "print(x.dtype)",
            seldom=(
                "x = x.view(np.matrix)",
                "np.seterr(all='raise')",
                "x = np.ma.masked_equal(x, 3)",
                "x = x.tolist()\nx = np.array(x)",
                "x = x[::2]",
                "x.setflags(write=False)",
            ),
        ),
        form=form,
        more=_several(
            choose,
            "y[0] = 0",
            "print(y.flags.writeable, y.flags.c_contiguous)",
            seldom=("x[0] = 1\nprint(y[0, 0])", "print(np.shares_memory(x, y))"),
        ),
    )


def _tfm602(choose: Choose) -> str:
    value = choose(
        (
            "0.5",
            "1",
            "255.0",
            "300",
            "-1",
            "0.1",
            "1e300",
            "-1.5",
            "1e-320",
            "70000",
            "3.7",
            "2**40",
            "np.pi",
            "np.nan",
            "np.inf",
            "np.float64(0.1)",
            "np.int64(7)",
            "True",
            "1j",
            "LEVEL",
            "[1.0] * 256",
            "np.arange(256)",
            "BIG",
            "tf.constant(2.0)",
        )
    )
    shape = choose(("(3000, 256)", "(3000, 256)", "[3000, 256]", "SHAPE", "3000 * 256"))
    made = choose((f"np.ones({shape})", f"np.full({shape}, {value})", f"np.full({shape}, {value})"))
    dtype = choose(
        (
            "np.float32",
            "'float32'",
            "np.float16",
            "np.uint8",
            "'int32'",
            "np.int8",
            "bool",
            "KIND",
            "np.uint16",
            "'f4'",
            "np.dtype('float32')",
            "tf.float32.as_numpy_dtype",
            "'>f4'",
            "'S4'",
        )
    )
    return _put(
        """
<plain>
SHAPE = (3000, 256)
LEVEL = 0.25
KIND = np.float32
BIG = 1e39
<seldom>
y = <made>.astype(<dtype>)
print(y.dtype, y.shape, y.dtype.byteorder)
print(y.tobytes().hex()[:32], int(y.view(np.uint8).astype(np.uint64).sum()))
<more>
print(y.flags.writeable, y.flags.owndata, type(y).__name__)
""",
        plain=_plain(choose),
        seldom=_several(
            choose,
            "print('made')",
            seldom=(
                "np.seterr(all='raise')",
                "import warnings\nwarnings.simplefilter('error')",
                "KIND = np.float64",
                "SHAPE = np.array([3000, 256])",
            ),
        ),
        made=made,
        dtype=dtype,
        more=_several(choose, "y[0] = 0\nprint(y.sum())", "print(float(y[0, 0]))"),
    )


def _tfm709(choose: Choose) -> str:
    reset = "tf.compat.v1.reset_default_graph()"
    before = _several(
        choose,
        "tf.random.set_seed(3)",
        "v = tf.Variable(1.0)",
        "model = tf.keras.Sequential([tf.keras.layers.Dense(2)])\nprint(model.name)",
        seldom=(
            "g = tf.compat.v1.get_default_graph()",
            "tf.compat.v1.add_to_collection('a', 1)",
            "tf.compat.v1.set_random_seed(3)",
            "step = tf.compat.v1.train.get_or_create_global_step()",
            "tf.keras.backend.get_uid('dense')",
            "tf.compat.v1.get_variable('w', [2])",
            "root = tf.name_scope('a')\nroot.__enter__()",
            "tf.get_default_graph = tf.compat.v1.get_default_graph",
        ),
    )
    after = _several(
        choose,
        "print(tf.random.uniform([2], seed=4).numpy().tolist())",
        "print(tf.random.normal([2]).numpy().tolist() if False else 1)",
        "layer = tf.keras.layers.Dense(2)\nprint(layer.name)",
        seldom=(
            "print(tf.compat.v1.get_default_graph() is g)",
            "print(len(tf.compat.v1.get_default_graph().get_operations()))",
            "print(tf.compat.v1.get_collection('a'))",
            "print(tf.compat.v1.train.get_global_step() is None)",
            "print(tf.Variable(1.0).name, tf.keras.backend.get_uid('dense'))",
            "print(tf.compat.v1.get_default_graph().seed)",
            "print(len(tf.compat.v1.global_variables()))",
        ),
    )
    where = choose(("plain", "plain", "loop", "function", "tried", "scope", "graph", "traced"))
    text = {
        "plain": "<reset>",
        "loop": "for k in range(3):\n    t = tf.ones([4]) * float(k)\n    <reset>\n    print(float(tf.reduce_sum(t)))",
        "function": "def clean():\n    <reset>\nclean()\nprint(clean())",
        "tried": "try:\n    <reset>\nexcept AssertionError:\n    print('nested')",
        "scope": "with tf.name_scope('a'):\n    <reset>\n    print(tf.Variable(2.0).name)",
        "graph": "with tf.Graph().as_default():\n    <reset>",
        "traced": "@tf.function\ndef f(x):\n    <reset>\n    return x\nprint(float(f(tf.ones([]))))",
    }[where]
    return _put(
        """
<plain>
<before>
<text>
<after>
print('end')
""",
        plain=_plain(choose),
        before=before,
        text=_put(text, reset=reset).rstrip(),
        after=after,
    )


MAKERS: dict[str, Callable[[Choose], str]] = {
    "TFM101": _tfm101,
    "TFM102": _tfm102,
    "TFM105": _tfm105,
    "TFM106": _tfm106,
    "TFM201": _tfm201,
    "TFM205": _tfm205,
    "TFM206": _tfm206,
    "TFM207": _tfm207,
    "TFM208": _tfm208,
    "TFM210": _tfm210,
    "TFM212": _tfm212,
    "TFM214": _tfm214,
    "TFM217": _tfm217,
    "TFM223": _tfm223,
    "TFM401": _tfm401,
    "TFM402": _tfm402,
    "TFM601": _tfm601,
    "TFM602": _tfm602,
    "TFM709": _tfm709,
}
