"""The gates before the parse hold back nothing that has a finding."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfmemlint import Claim, File, Metric, Rule, registry
from tfmemlint.decoding import decode
from tfmemlint.linting import lint
from tfmemlint.screen import awaited, code, mentions_tensorflow, words

RULES = registry.load()
FIXTURES = registry.folder(next(iter(RULES.values()))).parent
PROGRAMS = sorted(FIXTURES.rglob("*.py"))


def rule(*triggers: str) -> Rule:
    def check(file: File) -> tuple[()]:
        return ()

    return Rule("TFM901", "some-rule", Claim(Metric.HOST_PEAK, 1, "of nothing"), triggers, check)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_no_finding_in_any_fixture_is_held_back(path: Path) -> None:
    data = path.read_bytes()
    text = decode(data).text
    found = lint(str(path), text, RULES.values())

    assert mentions_tensorflow(data) or not found
    assert found == lint(str(path), text, awaited(RULES.values(), words(code(data))))


def test_some_fixture_has_findings() -> None:
    assert any(lint(str(path), path.read_text("utf-8"), RULES.values()) for path in PROGRAMS)


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf",
        "from keras import layers",
        "import tf_keras",
        "load('tensorflow')",
        "import tensor\N{LATIN SMALL LIGATURE FL}ow as tf",
        "import \N{FULLWIDTH LATIN SMALL LETTER K}eras",
        "# \N{LATIN SMALL LETTER E WITH ACUTE}\nimport keras",
    ],
)
def test_any_way_to_name_tensorflow_or_keras_is_seen(source: str) -> None:
    assert mentions_tensorflow(source.encode())


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"import torch",
        b"import tensor, flow",
        b"import Tensorflow",
        b"# r\xc3\xa9sum\xc3\xa9",
        b"\xff\xfe\x00\x80",
        b"\xe9" * 1000,
    ],
)
def test_what_names_neither_is_held_back(source: bytes) -> None:
    assert not mentions_tensorflow(source)


def test_words_are_names_wherever_they_stand() -> None:
    source = "a.b(c=d2)\ne_1['f']#g\n\"h\N{EN DASH}i\"\tdef\x0cj:k"

    assert frozenset(b"a b c d2 e_1 f g h i def j k".split()) == words(source.encode())


def test_words_are_read_as_python_reads_names() -> None:
    source = "ds.shu\N{LATIN SMALL LIGATURE FFL}e(1)"

    assert b"shuffle" in words(source.encode())
    assert b"shuffle" not in words(source.replace("e(", "(").encode())


@pytest.mark.parametrize(
    ("triggers", "source"),
    [
        ((), ""),
        (("shuffle",), "ds.shuffle"),
        (("for while", "append"), "while x: y.append(1)"),
        (("for while", "append"), "append\nfor"),
    ],
)
def test_a_rule_runs_where_each_trigger_is_met(triggers: tuple[str, ...], source: str) -> None:
    any_rule = rule(*triggers)

    assert [any_rule] == awaited([any_rule], words(source.encode()))


@pytest.mark.parametrize(
    ("triggers", "source"),
    [
        (("shuffle",), ""),
        (("shuffle",), "reshuffle shuffled shuffle_"),
        (("for while", "append"), "for while"),
        (("for while", "append"), "append"),
        (("for while", "append"), "format(whiles, append)"),
    ],
)
def test_a_rule_waits_where_a_trigger_is_not_met(triggers: tuple[str, ...], source: str) -> None:
    assert awaited([rule(*triggers)], words(source.encode())) == []


@pytest.mark.parametrize(
    ("source", "kept"),
    [
        ("a = 1  # b", "a 1"),
        ('a = """b\n# c\n"""\n', "a"),
        ("def f():\n    '''It\\'s \"\"\" of g\"'''\n    h()", "def f h"),
        ("a = '# b' + \"it's c\"", "a b it s c"),
        ('a = r"\\\\" # b\nc', "a r c"),
        ('"""a""" + b\r# c\rd', "b d"),
        ('x = "a\\\nb" # c', "x a b"),
        ('\'"""\' + a + """b""" + "\'\'\'"', "a"),
        ("f'{a}' + b # c", "f a b"),
        ('# """\na\n# """', "a"),
    ],
)
def test_comments_and_long_strings_are_no_code(source: str, kept: str) -> None:
    assert set(kept.encode().split()) == words(code(source.encode()))


@pytest.mark.parametrize(
    "source",
    [
        "f'''{a(\"\"\"b\"\"\")}'''",
        'f"{a["#"]}" + b',
        'f"}}{ {a["#"]} }" + b',
        'f"{\'}"#\'}" + b',
        'f"{\'}\'"#":}" + b',
        'f"{\'d\'#}"\n}" + b',
        "f\"{'''}'\"#'''}\" + b",
        "f\"{'\\'}\"#'}\" + b",
        'f"{\na}" + """b"""',
    ],
    ids=[
        "long-formatted",
        "comment-in-formatted",
        "braces",
        "one-quote",
        "brace-in-quotes",
        "comment",
        "three-quotes",
        "backslash",
        "lines",
    ],
)
def test_in_doubt_all_is_code(source: str) -> None:
    assert source.encode() == code(source.encode())


PIECES = [
    *("a", "b.c", " ", "\n", "\n    ", "(", ")", "[", "]", "{", "}", ":", ",", " = ", "+", "if a:"),
    *("#", '"', "'", '"""', "'''", "\\", "f", "rb", 'F"', "fr'", '"{a}"', "\r", "\r\n", "\xe9"),
    *("'d'", '"d"', "# e\n", '"""e"""', "f'{g}'", 'f"{g["d"]}"', "lambda: "),
]


def names(tree: ast.AST) -> set[bytes]:
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {name.encode() for name in found if name.isascii()}


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_every_name_in_code_is_a_word_of_the_code(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return

    assert names(tree) <= words(code(source.encode()))


def test_every_name_in_the_standard_library_is_a_word_of_its_code() -> None:
    for path in sorted(Path(ast.__file__).parent.glob("*.py")):
        data = path.read_bytes()

        assert names(ast.parse(data)) <= words(code(data)), path


@given(st.lists(st.sampled_from([*"a\xe9\u212a\ufb01.(\n'# \\_0", "fit"])).map("".join))
def test_every_name_that_python_reads_is_a_word(source: str) -> None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return

    assert names(tree) <= words(source.encode())
