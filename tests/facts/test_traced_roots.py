"""What has a piece of code traced, seen through its callers."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.graphs.tracing import TracedBy

HEAD = """\
    import tensorflow as tf

    def helper(x):
        return mark(x)

    """


def roots(text: str) -> list[TracedBy]:
    file = File("code.py", dedent(HEAD) + dedent(text))
    (marked,) = (
        call for call in file.tf.tree.all(ast.Call) if getattr(call.func, "id", None) == "mark"
    )
    return [each.by for each in file.tf.tracing.roots(marked)]


def test_a_helper_of_eager_code_has_none() -> None:
    assert roots("def main(x):\n    return helper(x)\n") == []


def test_a_helper_has_those_of_every_traced_caller() -> None:
    text = """\
        class Model(tf.keras.Model):
            def call(self, x):
                return helper(x)

        @tf.function
        def step(x):
            return other(x)

        def other(x):
            return helper(x)
        """
    assert sorted(each.value for each in roots(text)) == ["Keras", "tf.function"]


def test_a_function_that_is_itself_declared_has_its_own_alone() -> None:
    text = """\
        class Model(tf.keras.Model):
            def call(self, x):
                return fast(x)

        @tf.function
        def fast(x):
            return helper(x)
        """
    assert roots(text) == [TracedBy.TF_FUNCTION]


def test_functions_that_call_each_other_have_the_root_of_both() -> None:
    text = """\
        @tf.function
        def even(x):
            return helper(odd(x))

        def odd(x):
            return even(x)
        """
    assert roots(text) == [TracedBy.TF_FUNCTION]


def test_a_function_that_leaves_the_graph_has_none() -> None:
    text = """\
        def load(path):
            return helper(path)

        ds = tf.data.Dataset.list_files("*").map(lambda p: tf.py_function(load, [p], tf.float32))
        """
    assert roots(text) == []


def test_a_method_that_keras_calls_has_its_own_declaration_if_it_makes_one() -> None:
    text = """\
        class Model(tf.keras.Model):
            @tf.function
            def call(self, x):
                return helper(x)
        """
    assert roots(text) == [TracedBy.TF_FUNCTION]


def test_code_is_surely_eager_where_all_its_callers_are() -> None:
    file = File(
        "code.py",
        dedent(
            """\
            import tensorflow as tf
            def helper(): a = 1
            def called(): helper(); b = 1
            called()
            def library(): c = 1
            @tf.function
            def traced(): d = 1; both()
            def both(): e = 1
            both()
            f = 1
            """
        ),
    )
    eager = filter(file.tf.tracing.surely_eager, file.tf.tree.all(ast.Assign))

    assert [ast.unparse(each) for each in eager] == ["a = 1", "b = 1", "f = 1"]


CALLED = """\
    class Model(tf.keras.Model):
        def call(self, x):
            return helper(x)

    model = Model()
    """

BY_HAND = f"""{CALLED}
    def fit(x):
        with tf.GradientTape() as tape:
            loss = model(x)

    if __name__ == '__main__':
        fit(1.0)
    """


def test_a_model_that_the_file_itself_trains_in_eager_code_has_none() -> None:
    assert roots(BY_HAND) == []


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(CALLED, id="nothing runs it here"),
        pytest.param(
            f"{CALLED}\n    y = model(x)\n", id="called, but where it is trained is not seen"
        ),
        pytest.param(f"{BY_HAND}\n    model.predict(x)\n", id="Keras runs it as well"),
        pytest.param(f"{BY_HAND}\n    fast = tf.function(model)\n", id="traced after all"),
        pytest.param(BY_HAND.replace("fit(1.0)", "pass"), id="others may trace what trains it"),
        pytest.param(
            BY_HAND.replace("loss = model(x)", "loss = other(x)"), id="another is trained"
        ),
    ],
)
def test_a_model_that_anything_else_may_run_has_keras(text: str) -> None:
    assert roots(text) == [TracedBy.KERAS]


@pytest.mark.parametrize(
    "source",
    [
        "tf.compat.v1.disable_eager_execution()",
        "with tf.Session() as session: pass",
        "x = tf.compat.v1.placeholder(tf.float32)",
        "from tensorflow.contrib import slim",
        "from keras import backend as K\nK.set_session(None)",
    ],
)
def test_what_sessions_run_is_made_by_hand(source: str) -> None:
    assert File("code.py", f"import tensorflow as tf\n{source}\n").tf.tracing.by_hand


@pytest.mark.parametrize(
    "source",
    [
        "tf.compat.v1.enable_eager_execution()",
        "from requests import Session\nwith Session() as session: pass",
        "from keras import backend as K\nK.clear_session()",
    ],
)
def test_what_has_no_session_is_not_made_by_hand(source: str) -> None:
    assert not File("code.py", f"import tensorflow as tf\n{source}\n").tf.tracing.by_hand


@pytest.mark.parametrize(
    ("block", "traced"),
    [
        ("with tf.init_scope():", False),
        ("with tf.device('cpu'), tf.init_scope():", False),
        ("with tf.device('cpu'):", True),
        ("if tf.init_scope():", True),
    ],
)
def test_what_leaves_the_graph_is_not_traced(block: str, traced: bool) -> None:
    code = (
        "import tensorflow as tf\n"
        f"@tf.function\ndef step(x):\n    {block}\n        see(x)\n    return x\n"
        "def see(x):\n    return x\n"
    )
    tf = File("code.py", code).tf
    step, see = tf.tree.all(ast.FunctionDef)
    call = next(each for each in tf.tree.calls(("see",)))

    assert (tf.tracing.why(call) is not None) is traced
    assert (see in tf.tracing.functions) is traced
    assert step in tf.tracing.functions
