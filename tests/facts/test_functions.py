"""Definitions, calls, arguments, and what is traced."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint.facts.graphs.tracing import TracedBy

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(): pass\nsee(f)", 1),
        ("def f(): pass\ng = f\nsee(g)", 1),
        ("import tensorflow as tf\ndef f(): pass\ng = tf.function(f)\nsee(g)", 2),
        (
            "import tensorflow as tf\ndef f(): pass\ng = tf.function(jit_compile=True)(f)\nsee(g)",
            2,
        ),
        ("from functools import partial\ndef f(a): pass\nsee(partial(f, 1))", 2),
        ("class C:\n    def m(self): pass\n    def n(self):\n        see(self.m)", 2),
        ("class B:\n    def m(self): pass\nclass C(B):\n    def n(self):\n        see(self.m)", 2),
        ("class C:\n    def m(self): pass\nc = C()\nsee(c.m)", 2),
        ("class C:\n    def m(self): pass\nsee(C().m)", 2),
        ("class C:\n    @staticmethod\n    def m(x): pass\nsee(C.m)", 3),
        (
            "import tensorflow as tf\nclass C:\n    def __init__(self):\n"
            "        self.step = tf.function(self._step)\n    def _step(self): pass\n"
            "    def run(self):\n        see(self.step)",
            5,
        ),
        ("see(lambda x: x)", 1),
        ("class C:\n    def __call__(self): pass\nc = C()\nsee(c)", 2),
        ("class C:\n    def __call__(self): pass\nsee(C())", 2),
        (
            "class C:\n    def __call__(self): pass\nclass D:\n    def __init__(self):\n"
            "        self.c = C()\n    def n(self):\n        see(self.c)",
            2,
        ),
    ],
)
def test_a_callee_is_followed_to_its_definition(look: Look, source: str, line: int) -> None:
    file, seen = look(source)

    found = file.tf.functions.function(seen[0])

    assert found is not None
    assert found.lineno == line


@pytest.mark.parametrize(
    "source",
    [
        "def f(g):\n    see(g)",
        "class C:\n    def call(self): pass\nsee(C())",
        "def f(): pass\ndef f(): pass\nif a:\n    f = other\nsee(f)",
        "class C:\n    def n(this, self):\n        see(self.n)",
        "class C:\n    @staticmethod\n    def n(self):\n        see(self.n)",
    ],
)
def test_a_callee_that_could_be_anything_has_no_definition(look: Look, source: str) -> None:
    file, seen = look(source)

    assert file.tf.functions.function(seen[0]) is None


@pytest.mark.parametrize(
    ("source", "passed"),
    [
        ("def f(a, b=2): pass\nsee(f(1))", "2"),
        ("def f(a, b=2): pass\nsee(f(1, 3))", "3"),
        ("def f(a, b=2): pass\nsee(f(1, b=4))", "4"),
        ("def f(a, *, b=2): pass\nsee(f(1))", "2"),
        ("def f(a, b): pass\nsee(f(*c))", None),
        ("def f(a, b): pass\nsee(f(1, **c))", None),
        ("class C:\n    def f(self, b): pass\n    def g(self):\n        see(self.f(5))", "5"),
        ("class C:\n    @staticmethod\n    def f(a, b): pass\nsee(C.f(1, 6))", "6"),
        ("class C:\n    def f(self, b): pass\nc = C()\nsee(C.f(c, 7))", "7"),
    ],
)
def test_what_a_call_passes_for_a_parameter(look: Look, source: str, passed: str | None) -> None:
    file, seen = look(source)
    call = seen[0]
    assert isinstance(call, ast.Call)
    function = file.tf.functions.function(call.func)
    assert function is not None

    found = file.tf.callers.argument(call, function, "b")

    assert (None if found is None else ast.unparse(found)) == passed


@pytest.mark.parametrize(
    ("source", "by"),
    [
        ("@tf.function\ndef f(x):\n    see(x)", TracedBy.TF_FUNCTION),
        ("@tf.function(jit_compile=True)\ndef f(x):\n    see(x)", TracedBy.TF_FUNCTION),
        ("@partial(tf.function, jit_compile=True)\ndef f(x):\n    see(x)", TracedBy.TF_FUNCTION),
        ("@function\ndef f(x):\n    see(x)", TracedBy.TF_FUNCTION),
        ("def f(x):\n    see(x)\ng = tf.function(f)", TracedBy.TF_FUNCTION),
        ("def f(x):\n    see(x)\ng = tf.function(func=f)", TracedBy.TF_FUNCTION),
        (
            "class T:\n    def __init__(self):\n        self.step = tf.function(self._step)\n"
            "    def _step(self, x):\n        see(x)",
            TracedBy.TF_FUNCTION,
        ),
        ("class M(tf.keras.Model):\n    def call(self, x):\n        see(x)", TracedBy.KERAS),
        (
            "class A(tf.keras.layers.Layer): pass\n"
            "class B(A):\n    def call(self, x):\n        see(x)",
            TracedBy.KERAS,
        ),
        ("class M(tf.keras.Model):\n    def train_step(self, x):\n        see(x)", TracedBy.KERAS),
        ("ds = tf.data.Dataset.range(3).map(lambda x: see(x))", TracedBy.DATASET),
        ("def f(x):\n    see(x)\nds = tf.data.Dataset.range(3)\nds = ds.map(f)", TracedBy.DATASET),
        ("def f(x):\n    see(x)\n@tf.function\ndef g(x):\n    return f(x)", TracedBy.CALLER),
        (
            "def f(x):\n    see(x)\n@tf.function\ndef g(x):\n    strategy.run(f, args=(x,))",
            TracedBy.CALLER,
        ),
        ("@tf.function\ndef g(x):\n    def f(y):\n        see(y)\n    f(x)", TracedBy.CALLER),
        (
            "@tf.function\ndef g(x):\n    tf.cond(x, lambda: see(x), lambda: x)",
            TracedBy.CALLER,
        ),
    ],
)
def test_code_that_runs_as_a_graph(look: Look, source: str, by: TracedBy) -> None:
    imports = (
        "import tensorflow as tf\nfrom tensorflow import function\nfrom functools import partial\n"
    )
    file, seen = look(imports + source)

    why = file.tf.tracing.why(seen[0])

    assert why is not None
    assert why.by is by


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(x):\n    see(x)", id="a plain function"),
        pytest.param("@function\ndef f(x):\n    see(x)", id="some other decorator"),
        pytest.param(
            "class M:\n    def call(self, x):\n        see(x)", id="call of no Keras class"
        ),
        pytest.param("frame.map(lambda x: see(x))", id="map of something unknown"),
        pytest.param("[1].map(lambda x: see(x))", id="map of a list"),
        pytest.param(
            "@tf.function\ndef g(x):\n    def f(y):\n        see(y)\n"
            "    tf.py_function(f, [x], tf.float32)",
            id="py_function leaves the graph",
        ),
        pytest.param(
            "def f(x):\n    see(x)\n@tf.function\ndef g(x):\n    return x", id="not called"
        ),
    ],
)
def test_code_that_nothing_says_is_traced(look: Look, source: str) -> None:
    file, seen = look("import tensorflow as tf\n" + source)

    assert file.tf.tracing.why(seen[0]) is None


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("class C:\n    def m(self): pass\nclass D(C):\n    def m(self): pass", [4]),
        (
            "class C:\n    def m(self): pass\nclass D(C): pass\nclass E(D):\n    def m(self): pass",
            [5],
        ),
        ("class C:\n    def m(self): pass\nclass D(C):\n    def n(self): pass", []),
        ("class C:\n    def m(self): pass\nclass D:\n    def m(self): pass", []),
        ("def m(): pass\nclass D:\n    def m(self): pass", []),
    ],
)
def test_heirs_may_have_a_method_of_their_own(source: str, lines: list[int]) -> None:
    tf = File("example.py", source).tf
    first = next(tf.tree.all(ast.FunctionDef))

    assert [each.lineno for each in tf.functions.overrides(first)] == lines


@pytest.mark.parametrize(
    ("body", "rest", "number"),
    [
        ("STEPS = 400", "see(self.STEPS)", 400),
        ("STEPS = 4 * 100", "see(self.STEPS)", 400),
        ("STEPS = 400", "see(C.STEPS)", 400),
        ("STEPS = 400", "see(D().STEPS)", 400),
        ("STEPS = 400", "see(self.STEPS)\n        C.STEPS = 3", None),
        ("STEPS = 400", "see(other.STEPS)", None),
        ("STEPS = 400", "class E(C):\n            STEPS = 3\n        see(E().STEPS)", 3),
        ("STEPS: int = 400", "see(self.STEPS)", None),
        ("if a: STEPS = 400", "see(self.STEPS)", None),
        ("STEPS = steps", "see(self.STEPS)", None),
    ],
)
def test_a_class_may_hold_a_number_for_good(
    look: Look, body: str, rest: str, number: int | None
) -> None:
    code = f"class C:\n    {body}\nclass D(C):\n    def run(self):\n        {rest}\n"
    file, (seen,) = look(code)

    assert file.tf.values.number(seen) == number


def test_members_of_enumerations_are_no_numbers(look: Look) -> None:
    file, (seen,) = look("import enum\nclass C(enum.Enum):\n    STEPS = 400\nsee(C.STEPS)")

    assert file.tf.values.number(seen) is None


@pytest.mark.parametrize(
    ("given", "called"),
    [
        ("run(one)\nrun(two)", ["one", "two"]),
        ("run(one)", ["one"]),
        ("run(one)\nrun(other)", []),
        ("for each in (one, two):\n    run(each)", []),
        ("both = {'a': one, 'b': two}\nfor key in both:\n    both[key]()", []),
    ],
)
def test_what_is_handed_over_is_called(look: Look, given: str, called: list[str]) -> None:
    code = "def one(): pass\ndef two(): pass\ndef run(step):\n    step()\n"
    file, _ = look(code + given)

    functions = [each for each in file.tf.tree.all(ast.FunctionDef) if each.name != "run"]

    assert [each.name for each in functions if file.tf.callers.calls_of(each)] == called


def test_what_gives_itself_means_nothing(look: Look) -> None:
    code = """
class Step:
    def __call__(self, x):
        return x

    def again(self):
        self.inner = self.inner(1)
        see(self.inner(2))
"""
    file, (seen,) = look(code)

    assert isinstance(seen, ast.Call)
    assert file.tf.functions.definition(seen.func) is None
