"""The gates before the parse hold back nothing that has a finding."""

from __future__ import annotations

import ast
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint import Claim, File, Metric, Rule, registry
from tfmemlint.decoding import decode
from tfmemlint.linting import lint
from tfmemlint.screen import awaited, code, is_inside_tensorflow, mentions_tensorflow, words

RULES = registry.load()
FIXTURES = registry.folder(next(iter(RULES.values()))).parent
PROGRAMS = sorted(FIXTURES.rglob("*.py"))


def names_in(parts: tuple[bytes, bytes]) -> frozenset[bytes]:
    return words(b" ".join(parts))


def rule(*triggers: str) -> Rule:
    def check(file: File) -> tuple[()]:
        return ()

    return Rule("TFM901", "some-rule", Claim(Metric.HOST_PEAK, 1, "of nothing"), triggers, check)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(FIXTURES)))
def test_no_finding_in_any_fixture_is_held_back(path: Path) -> None:
    data = path.read_bytes()
    text = decode(data).text
    found = lint(str(path), text, RULES.values())

    assert (mentions_tensorflow(data) and not is_inside_tensorflow(code(data)[0])) or not found
    assert found == lint(str(path), text, awaited(RULES.values(), names_in(code(data))))


def test_some_fixture_has_findings() -> None:
    assert any(lint(str(path), path.read_text("utf-8"), RULES.values()) for path in PROGRAMS)


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf",
        "from keras import layers",
        "import tf_keras",
        "load('tensorflow')",
        "from transformers import BertTokenizer, TFBertModel",
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
        b"from transformers import BertTokenizer, BertModel",
        b"import tensor, flow",
        b"import Tensorflow",
        b"# r\xc3\xa9sum\xc3\xa9",
        b"\xff\xfe\x00\x80",
        b"\xe9" * 1000,
    ],
)
def test_what_names_neither_is_held_back(source: bytes) -> None:
    assert not mentions_tensorflow(source)


@pytest.mark.parametrize(
    "source",
    [
        "from tensorflow.python.framework import ops\nfrom tensorflow.core.protobuf import a_pb2",
        "from tensorflow.dtensor.python import api\nfrom tensorflow.python.ops import a_ops",
        "from tensorflow.python import tf2\nfrom tensorflow.python.ops import a_ops as like_keras",
        "import tensorflow.python.a.b_ops\nfrom tensorflow.python.eager import def_function",
        'from tensorflow.python.a import b\n@tf_export("keras.b")\ndef f(): """import keras."""',
        "from tensorflow.python.a import b  # tensorflow.b\nb._tensorflow_version_of_like_keras()",
    ],
)
def test_what_tensorflow_is_made_of_is_known(source: str) -> None:

    assert is_inside_tensorflow(code(source.encode())[0])


@pytest.mark.parametrize(
    "source",
    [
        "import a  # from tensorflow.python.a import b",
        "import tensorflow as tf",
        "from tensorflow import data",
        "from tensorflow.compat import v1 as tf",
        "import tensorflow_core as tf",
        "import tensorflow_datasets",
        "import keras",
        "from tf_keras import layers",
        "from tensorflow.keras import layers",
        "from tensorflow.python import keras",
        "from tensorflow.python.keras import layers",
        "from tensorflow.python import (\n    tf2,\n    keras,\n)",
        "import tensorflow.python.keras.layers",
        "from tensorflow.python.data.ops.dataset_ops import DatasetV2 as Dataset",
        "from tensorflow.python.data.ops import dataset_ops\ndataset_ops.DatasetV2.range(3)",
        "import tensor\N{LATIN SMALL LIGATURE FL}ow as tf",
    ],
)
def test_what_tensorflow_offers_is_not_taken_for_what_it_is_made_of(source: str) -> None:
    assert not is_inside_tensorflow(code(source.encode())[0])
    both = f"from tensorflow.python.framework import ops\n{source}\n"
    assert "#" in source or not is_inside_tensorflow(code(both.encode())[0])


def test_the_rules_have_nothing_to_say_of_what_tensorflow_is_made_of() -> None:
    spec = find_spec("tensorflow")
    if spec is None or spec.origin is None:
        pytest.skip("TensorFlow is not installed")
    sources = sorted(Path(spec.origin).with_name("python").rglob("*.py"))
    inside = [path for path in sources[::10] if is_inside_tensorflow(code(path.read_bytes())[0])]

    assert len(inside) > 50
    for path in inside:
        assert lint(str(path), decode(path.read_bytes()).text, RULES.values()) == (), path


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
        (("cache", "map"), "ds.cache().apply(map_and_batch(f, 8))"),
        (("repeat shuffle",), "shuffle_and_repeat(8)"),
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
        (("map",), "shuffle_and_repeat(8)"),
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
        ('f"it\'s {a}" + b # c', "f it s a b"),
        ('f"#{a}, {{b}} and {{{c!r:>9}}}" # d', "f a b and c r 9"),
        ('f"\\"{a}\\"" + f"{{" # b', "f a"),
        ("rf'\\d{a}\\'' + b # c", "rf d a b"),
        ('# """\na\n# """', "a"),
    ],
)
def test_comments_and_long_strings_are_no_code(source: str, kept: str) -> None:
    assert set(kept.encode().split()) == names_in(code(source.encode()))


@pytest.mark.parametrize(
    "source",
    [
        "f'''{a(\"\"\"b\"\"\")}'''",
        'f"{a["#"]}" + b',
        'f"}}{ {a["#"]} }" + b',
        'f"{\'}"#\'}" + b',
        'f"it\'s {a["#"]}" + b',
        'f"{{{a["#"]}}}" + b',
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
        "apostrophe",
        "escaped-braces",
        "comment",
        "three-quotes",
        "backslash",
        "lines",
    ],
)
def test_in_doubt_all_is_code(source: str) -> None:
    assert (source.encode(), b"") == code(source.encode())


PIECES = [
    *("a", "b.c", " ", "\n", "\n    ", "(", ")", "[", "]", "{", "}", ":", ",", " = ", "+", "if a:"),
    *("#", '"', "'", '"""', "'''", "\\", "f", "rb", 'F"', "fr'", '"{a}"', "\r", "\r\n", "\xe9"),
    *("'d'", '"d"', "# e\n", '"""e"""', "f'{g}'", 'f"{g["d"]}"', "lambda: "),
]


def names(tree: ast.AST) -> set[bytes]:
    found = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    return {name.encode() for name in found if name.isascii()}


@settings(deadline=None, database=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_every_name_in_code_is_a_word_of_the_code(source: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(source)
        except (SyntaxError, ValueError):
            return

    assert names(tree) <= names_in(code(source.encode()))


def test_every_name_in_the_standard_library_is_a_word_of_its_code() -> None:
    for path in sorted(Path(ast.__file__).parent.glob("*.py")):
        data = path.read_bytes()

        assert names(ast.parse(data)) <= names_in(code(data)), path


@settings(deadline=None, database=None)
@given(st.lists(st.sampled_from([*"a\xe9\u212a\ufb01.(\n'# \\_0", "fit"])).map("".join))
def test_every_name_that_python_reads_is_a_word(source: str) -> None:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return

    assert names(tree) <= words(source.encode())
