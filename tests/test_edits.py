"""Edits to calls: swapped, taken out, put in; and names that nothing uses."""

import ast

import pytest

from tfmemlint import Edit, File, Span, edits


def applied(text: str, found: tuple[Edit, ...]) -> str:
    for edit in sorted(found, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def calls(file: File, *methods: str) -> list[ast.Call]:
    found = {
        call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func): call
        for call in file.tf.tree.all(ast.Call)
    }
    return [found[method] for method in methods]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = d.a(1).b(2)\n", "x = d.b(2).a(1)\n"),
        ("x = (d.a(1)).b(2)\n", "x = (d.b(2)).a(1)\n"),
        ("x = d.a(1)  # one\nx = x.b(2)  # two\n", "x = d.b(2)  # two\nx = x.a(1)  # one\n"),
        ("x = d.a(1)  # one\nx = x.b(2)\n", "x = d.b(2)\nx = x.a(1)  # one\n"),
        (
            "x = (\n    d.a(1)  # é 𝄞\n    .b(  # two\n        2\n    )\n)\n",
            "x = (\n    d.b(  # two\n        2\n    )\n    .a(1)  # é 𝄞\n)\n",
        ),
        ("x = (d.a(1)  # one\n     .b(2))\n", "x = (d.b(2)  # one\n     .a(1))\n"),
        ("x = d.a(1)\r\nx = x.b(2)  # two\r\n", "x = d.b(2)  # two\r\nx = x.a(1)\r\n"),
        ("x = d.a(1)\n# two\n# 2\nx = x.b(2)\n", "# two\n# 2\nx = d.b(2)\nx = x.a(1)\n"),
        (
            "if c:\n    # one\n    x = d.a(1)\n    # two\n    x = x.b(2)\n",
            "if c:\n    # two\n    x = d.b(2)\n    # one\n    x = x.a(1)\n",
        ),
        ("# both\nx = d.a(1)\nx = x.b(2)\n", "# both\nx = d.b(2)\nx = x.a(1)\n"),
        ("x = d.a(1)\n# %% 2\n# two\nx = x.b(2)\n", "x = d.b(2)\n# %% 2\n# two\nx = x.a(1)\n"),
        ("# one\nx = d.a(1).b(2)\n", "# one\nx = d.b(2).a(1)\n"),
    ],
)
def test_two_method_calls_change_places_with_their_comments(before: str, after: str) -> None:
    file = File("example.py", before)
    first, second = calls(file, "a", "b")

    found = edits.swapped(file, first, second)

    assert found is not None
    assert applied(before, found) == after


def test_swapping_does_not_depend_on_which_call_is_named_first() -> None:
    file = File("example.py", "x = d.a(1).b(2)\n")
    first, second = calls(file, "a", "b")

    found = edits.swapped(file, second, first)

    assert found is not None
    assert set(found) == set(edits.swapped(file, first, second) or ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = d.a(1).b(2).c(3)\n", "x = d.c(3).a(1).b(2)\n"),
        (
            "x = d.a(1)  # one\nx = x.b(2).c(3)  # three\n",
            "x = d.c(3)  # one\nx = x.a(1).b(2)  # three\n",
        ),
        (
            "x = (\n    d.a(1)  # one\n    .b(2)\n    .c(3)  # three\n)\n",
            "x = (\n    d.c(3)  # three\n    .a(1)  # one\n    .b(2)\n)\n",
        ),
    ],
)
def test_several_method_calls_take_each_others_places(before: str, after: str) -> None:
    file = File("example.py", before)
    a, b, c = calls(file, "a", "b", "c")

    found = edits.reordered(file, (a, b, c), (c, a, b))

    assert found is not None
    assert applied(before, found) == after


@pytest.mark.parametrize(
    "text",
    [
        "ds.batch(n := 8).shuffle(n * 10)",
        "ds.batch(8).shuffle((n := 9))",
        "ds.batch(await a).shuffle(9)",
    ],
)
def test_a_call_whose_arguments_do_more_than_give_values_stays_where_it_is(text: str) -> None:
    file = File("a.py", f"async def f(ds):\n    return {text}\n")
    batch, shuffle = calls(file, "batch", "shuffle")

    assert edits.swapped(file, batch, shuffle) is None


def test_what_stays_where_it_is_is_not_edited() -> None:
    file = File("example.py", "x = d.a(1).b(2).c(3)\n")
    a, b, c = calls(file, "a", "b", "c")

    found = edits.reordered(file, (a, b, c), (a, c, b))

    assert found is not None
    assert len(found) == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import tensorflow as tf\nsee()\n", "tf.data.AUTOTUNE"),
        ("import tensorflow\nsee()\n", "tensorflow.data.AUTOTUNE"),
        (
            "import tensorflow as tf\nd.prefetch(tf.data.experimental.AUTOTUNE)\nsee()\n",
            "tf.data.experimental.AUTOTUNE",
        ),
        ("import tensorflow.data as tfd\nsee()\n", "tfd.AUTOTUNE"),
        ("import tensorflow as tf\nA = tf.data.AUTOTUNE\nsee()\n", "A"),
        ("import tensorflow as tf\nA = tf.data.AUTOTUNE\ndef f():\n    see()\n", "A"),
        ("import tensorflow as tf\nsee()\nA = tf.data.AUTOTUNE\n", "tf.data.AUTOTUNE"),
        ("import tensorflow as tf\ndef f():\n    A = tf.data.AUTOTUNE\n    see()\n", "A"),
        (
            "import tensorflow as tf\ndef g():\n    A = tf.data.AUTOTUNE\ndef f():\n    see()\n",
            "tf.data.AUTOTUNE",
        ),
        ("from tensorflow.data import AUTOTUNE as A\nd.prefetch(A)\nsee()\n", "A"),
        (
            "import tensorflow as tf\nA = tf.data.AUTOTUNE\ndef f(A):\n    see()\n",
            "tf.data.AUTOTUNE",
        ),
        (
            "import tensorflow as tf\nA = 1\nA = tf.data.AUTOTUNE\nsee()\n",
            "tf.data.AUTOTUNE",
        ),
        (
            "import tensorflow as tf\ntf.enable_eager_execution()\nsee()\n",
            "tf.data.experimental.AUTOTUNE",
        ),
        ("from tensorflow import data\nsee()\n", None),
        ("import tensorflow as tf\n\n\ndef f(tf):\n    see()\n", None),
    ],
)
def test_autotune_is_said_as_the_file_can_say_it(text: str, said: str | None) -> None:
    file = File("example.py", text)

    assert edits.autotune(file, calls(file, "see")[0]) == said


def test_autotune_is_where_the_oldest_tensorflow_of_the_project_has_it() -> None:
    file = File("example.py", "import tensorflow as tf\nsee()\n", (2, 3))

    assert edits.autotune(file, calls(file, "see")[0]) == "tf.data.experimental.AUTOTUNE"


def test_a_call_inside_the_other_is_not_swapped_with_it() -> None:
    file = File("example.py", "x = d.a(e.b(2))\n")
    first, second = calls(file, "a", "b")

    assert edits.swapped(file, first, second) is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(a, b=1)\n", "f(a)\n"),
        ("f(b=1)\n", "f()\n"),
        ("f(b=1, c=2)\n", "f(c=2)\n"),
        ("f(a, b=1, c=2)\n", "f(a, c=2)\n"),
        ("f(\n    a,\n    b=1,  # gone with it\n    c=2,\n)\n", "f(\n    a,\n    c=2,\n)\n"),
        ("f(\n    a,\n    b=1\n)\n", "f(\n    a,\n)\n"),
        ("f(a,  # stays\n  b=1, c=2)\n", "f(a,  # stays\n  c=2)\n"),
        ("f(a,  # would be lost\n  c=2, b=(1,\n 2))\n", "f(a,  # would be lost\n  c=2)\n"),
    ],
)
def test_a_keyword_goes_with_its_comma_and_its_line(before: str, after: str) -> None:
    file = File("example.py", before)

    found = edits.without_argument(file, calls(file, "f")[0], "b")

    assert found is not None
    assert applied(before, (found,)) == after


@pytest.mark.parametrize("source", ["f(a)\n", "f(**b)\n", "f(a,  # lost\n  b=1)\n"])
def test_a_keyword_that_is_not_there_or_would_take_a_comment_along_stays(source: str) -> None:
    file = File("example.py", source)

    assert edits.without_argument(file, calls(file, "f")[0], "b") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f()\n", "f(k=1)\n"),
        ("f(a)\n", "f(a, k=1)\n"),
        ("f(a, *b)\n", "f(a, *b, k=1)\n"),
        ("f(\n    a,\n    b,\n)\n", "f(\n    a,\n    b,\n    k=1,\n)\n"),
        ("f(\r\n    a\r\n)\r\n", "f(\r\n    a,\r\n    k=1\r\n)\r\n"),
        ("f(\n    a,  # its own\n)\n", "f(\n    a,  # its own\n    k=1,\n)\n"),
        ("f(\n    a, )\n", "f(\n    a,\n    k=1, )\n"),
    ],
)
def test_a_keyword_is_put_behind_the_other_arguments(before: str, after: str) -> None:
    file = File("example.py", before)

    found = edits.with_argument(file, calls(file, "f")[0], "k=1")

    assert found is not None
    assert applied(before, (found,)) == after


def test_lines_move_to_another_margin_and_strings_keep_theirs() -> None:
    source = 'if a:\n    x = """\n  as it is\n"""\n\n    y = 1  # too\n'
    file = File("example.py", source)
    block = next(file.tf.tree.all(ast.If)).body
    lines = edits.whole_lines(file, block[0], block[-1])
    assert lines is not None

    assert edits.reindented(file, lines, "") == 'x = """\n  as it is\n"""\n\ny = 1  # too\n'


@pytest.mark.parametrize("source", ["a = 1; b = 2\n", "if a: b = 2\n"])
def test_statements_that_share_a_line_have_no_lines_of_their_own(source: str) -> None:
    file = File("example.py", source)
    last = max(file.tf.tree.all(ast.Assign), key=lambda statement: statement.col_offset)

    assert edits.whole_lines(file, last) is None


def test_a_fresh_name_is_used_by_nothing() -> None:
    file = File("example.py", "import batch\ndef step(rows): return range(rows)\n")

    assert edits.fresh(file, "batch", "part") == "part"
    assert edits.fresh(file, "rows") == "rows_2"
    assert edits.fresh(file, "range", "class", "step") == "step_2"


@pytest.mark.parametrize("text", ["g(x)", "g(  # why\n    x)"])
def test_text_takes_the_place_of_a_node_that_loses_no_comment(text: str) -> None:
    file = File("example.py", "y = f(x)\n")
    (call,) = calls(file, "f")

    edit = edits.instead(file, call, text)

    assert edit is not None
    assert applied(file.text, (edit,)) == f"y = {text}\n"


def test_a_comment_is_lost_only_where_the_text_lacks_it() -> None:
    file = File("example.py", "y = f(\n    x  # why\n)\n")
    (call,) = calls(file, "f")

    assert edits.instead(file, call, "g(x)") is None
    assert edits.instead(file, call, "g(\n    x  # why\n)") is not None


def test_text_is_put_right_behind_a_node() -> None:
    file = File("example.py", "y = (f(x) )[0]\n")
    (call,) = calls(file, "f")

    assert applied(file.text, (edits.behind(file, call, ".g()"),)) == "y = (f(x).g() )[0]\n"


def test_edits_that_belong_together_are_made_all_or_none() -> None:
    one, other = Edit(Span(0, 1), "a"), Edit(Span(2, 3), "b")

    assert edits.whole(iter([one, other])) == (one, other)
    assert edits.whole([one, None]) is None
    assert edits.whole([]) == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = a.f(1).f(2)\n", "x = a.f(1).g(2)\n"),
        ("x = (a\n     .f  # why\n     (1))\n", "x = (a\n     .g  # why\n     (1))\n"),
    ],
)
def test_another_method_gets_the_same_arguments(before: str, after: str) -> None:
    file = File("example.py", before)

    edit = edits.renamed(file, next(file.tf.tree.all(ast.Call)), "g")

    assert edit is not None
    assert applied(before, (edit,)) == after


def test_a_function_is_no_method_to_rename() -> None:
    file = File("example.py", "f(1)\n")

    assert edits.renamed(file, next(file.tf.tree.all(ast.Call)), "g") is None


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = m.run(x)\n", "y = m.test(x)\n"),
        ("y = m.run(x, 8, verbose=0)\n", "y = m.test(x)\n"),
        ("y = (m.run)((x), verbose=0,)\n", "y = (m.test)((x),)\n"),
        ("y = m.run(\n    x=[a, b],  # both\n)\n", "y = m.test(\n    x=[a, b],  # both\n)\n"),
        ("y = m.run(\n    x,\n    verbose=0,\n)\n", "y = m.test(\n    x,\n)\n"),
        ("y = m.run(x,  # one\n    verbose=0)\n", None),
        ("y = run(x)\n", None),
    ],
)
def test_another_method_gets_the_first_argument_alone(before: str, after: str | None) -> None:
    file = File("example.py", before)
    (call,) = calls(file, "run")

    found = edits.called_with_first(file, call, "test")

    assert (None if found is None else applied(before, found)) == after
