"""How much work a run makes, counted: a clock would tell how busy the machine is."""

from __future__ import annotations

import ast
import gc
import sys
import weakref
from pathlib import Path
from typing import Any

import pytest

from tfmemlint import File, registry
from tfmemlint.config import Config, Configs
from tfmemlint.facts.syntax.tree import Tree
from tfmemlint.linting import lint
from tfmemlint.project import Project
from tfmemlint.run import Checker, run
from tfmemlint.screen import awaited, code, mentions_tensorflow, words

RULES = registry.load()
FIXTURES = registry.folder(next(iter(RULES.values()))).parent

START = "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import keras\nlosses = []\n"
DEFINITIONS = """
def step{number}(model, inputs, examples):
    outputs = []
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = model(inputs)
        outputs.append(tf.stack([loss]))
    return tf.concat(outputs, 0), examples.map(lambda each: each + {number}).batch(8)

class Net{number}(keras.Model):
    def __init__(self):
        super().__init__()
        self.weight = np.zeros((3, 4))

    def call(self, inputs):
        return tf.matmul(inputs, self.weight) + step{number}(self, inputs, inputs)[0]
"""
STATEMENTS = """
values = np.load(path)
examples = tf.data.Dataset.from_tensor_slices(values).shuffle(9).batch(4).prefetch(1)
for batch in examples:
    loss = tf.stack([model(batch)])
    losses.append(loss.numpy())
model.fit(examples)
"""

PLAIN = """
class Reader{number}:
    def __init__(self, path):
        self.path = path
        self.rows = []

    def read(self, names, limit={number}):
        for name in sorted(names):
            if name in self.path and isinstance(name, str):
                self.rows.append(" ".join([name, str(self.path)]))
        return self.check(self.rows[:limit], len(self.rows))

    def check(self, rows, count):
        assert count <= limit, tf.strings.length(rows)
        return rows
"""


def program(block: str, lines: int) -> str:
    number = lines // block.count("\n")
    return START + "".join(block.replace("{number}", str(each)) for each in range(number))


def calls(source: str) -> int:
    """How many functions are called and left to lint a file, those in C among them."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        lint("a.py", source, RULES.values())
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    ("block", "lines"),
    [
        pytest.param(DEFINITIONS, 50_000, marks=pytest.mark.slow),
        pytest.param(DEFINITIONS, 4_000),
        pytest.param(STATEMENTS, 10_000),
    ],
    ids=["many defs", "defs", "statements"],
)
def test_work_grows_as_files_do(block: str, lines: int) -> None:
    lint("a.py", program(block, 100), RULES.values())  # what is done once is done
    small, large = calls(program(block, 1_000)) / 1_000, calls(program(block, lines)) / lines

    assert large < 1.25 * small


def test_code_that_no_rule_speaks_of_is_hardly_looked_at() -> None:
    lint("a.py", program(PLAIN, 100), RULES.values())  # what is done once is done

    assert calls(program(PLAIN, 1_000)) < 180 * 1_000


def test_the_facts_of_a_file_go_with_it() -> None:
    """While files are linted nobody looks for objects that hold each other."""
    gc.collect()
    gc.disable()
    try:
        file = File("a.py", program(DEFINITIONS + STATEMENTS, 200))
        for rule in RULES.values():
            list(rule.check(file))
        facts = [weakref.ref(each) for each in vars(file.tf).values() if hasattr(each, "__dict__")]
        del file

        assert len(facts) > 15
        assert [each() for each in facts if each() is not None] == []
    finally:
        gc.enable()


def test_files_that_import_each_other_go_together(tmp_path: Path) -> None:
    names = [f"part{number}" for number in range(4)]
    for name in names:
        others = [each for each in names if each != name]
        imports = "".join(f"from {each} import step_{each}\n" for each in others)
        calls = "".join(f"        step_{each}(inputs, number)\n" for each in others)
        (tmp_path / f"{name}.py").write_text(
            f"import tensorflow as tf\n{imports}\n\n@tf.function\ndef step_{name}(inputs, rate):\n"
            "    return inputs * rate\n\n\ndef train(inputs):\n    for number in range(9):\n"
            f"{calls}"
        )
    checker = Checker(Configs(lambda config: config, Config()))
    gc.collect()
    gc.disable()
    before = modules()
    try:
        run([str(tmp_path / f"{name}.py") for name in names], checker, 1)
        assert modules() >= before + len(names)
        checker.look_around()
        assert modules() == before
    finally:
        gc.enable()


def modules() -> int:
    """How many trees of files there are."""
    return sum(1 for each in gc.get_objects() if type(each) is ast.Module)


def test_each_node_is_walked_once() -> None:
    source = program(DEFINITIONS, 2_000)
    tree = Tree(ast.parse(source))
    kinds = {type(each) for each in ast.walk(tree.module)}
    nodes = sum(1 for kind in kinds for _ in tree.all(kind))

    assert nodes < 12 * source.count("\n")
    assert nodes == len({each for kind in kinds for each in tree.all(kind)})


def test_nothing_is_left_for_the_collector() -> None:
    programs = [path.read_text("utf-8") for path in sorted(Path(FIXTURES).glob("*/ok.py"))]
    for source in programs:  # what is done once is done
        lint("a.py", source, RULES.values())
    gc.collect()
    gc.disable()
    try:
        for source in programs:
            lint("a.py", source, RULES.values())
        assert gc.collect() < len(programs)
    finally:
        gc.enable()


def test_a_word_in_a_comment_or_docstring_has_nothing_parsed() -> None:
    spoken = {word for rule in RULES.values() for entry in rule.triggers for word in entry.split()}
    talk = " ".join(sorted(spoken))
    source = f'"""{talk}"""\nimport tensorflow as tf  # {talk}\n'.encode()

    assert mentions_tensorflow(source)
    assert awaited(RULES.values(), words(source)) == list(RULES.values())
    assert awaited(RULES.values(), words(b" ".join(code(source)))) == []


def test_few_rules_look_at_the_program_of_another() -> None:
    programs = sorted(Path(FIXTURES).glob("*/bad.py"))
    looks = [
        len(awaited(RULES.values(), words(b" ".join(code(path.read_bytes()))))) / len(RULES)
        for path in programs
    ]

    assert sum(looks) / len(looks) < 0.45


def test_files_are_read_once_to_be_checked_and_once_for_what_imports_them(tmp_path: Path) -> None:
    paths = [tmp_path / f"file{number}.py" for number in range(20)]
    for path in paths:
        path.write_text(program(DEFINITIONS, 40))

    assert max(opened(paths).values()) <= 2

    (tmp_path / "file0.py").write_text("def make(model):\n    return model\n")
    for path in paths[1:]:
        path.write_text(
            START + "from file0 import make\nfor each in values:\n    make(model)(each)\n"
        )

    assert max(opened(paths).values()) <= 4


def test_files_that_lead_to_each_other_are_parsed_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"file{number}.py" for number in range(24)]
    for number, path in enumerate(paths):
        following = (number + 1) % len(paths)
        path.write_text(
            f"from file{following} import Net0 as Other\n{program(DEFINITIONS, 700)}"
            "for each in values:\n    Other()(each)\n"
        )
    assert sum(len(path.read_text()) for path in paths) > 400_000
    parse, parsed = ast.parse, list[str]()

    def counting(source: str, *arguments: Any, **options: Any) -> Any:
        parsed.append(source)
        return parse(source, *arguments, **options)

    monkeypatch.setattr(ast, "parse", counting)
    run([str(path) for path in paths], Checker(Configs(lambda config: config, Config())), 1)

    assert [parsed.count(path.read_text()) for path in paths] == [1] * len(paths)


def test_words_around_are_no_names_by_themselves(tmp_path: Path) -> None:
    ranges = frozenset({"tensorflow.data.Dataset.range"})
    program = "import tensorflow as tf\nfrom other import made\n\nprint(made(tf))\n"

    def mentions(other: str) -> bool:
        (tmp_path / "other.py").write_text(other)
        (tmp_path / "program.py").write_text(program)
        file = Project().file(str(tmp_path / "program.py"), program)
        return file.tf.names.mentions(ranges)

    assert not mentions("def made(tf):\n    return [each for each in range(9)]\n")
    assert mentions("def made(tf):\n    return tf.data.Dataset.range(9)\n")
    assert mentions("from tensorflow.data import Dataset as made\n\nprint(made.range(9))\n")


def opened(paths: list[Path]) -> dict[str, int]:
    """How often each file is opened by a run over all of them."""
    counts: dict[str, int] = {}
    OPENED.append(counts)
    try:
        run([str(path) for path in paths], Checker(Configs(lambda config: config, Config())), 1)
    finally:
        OPENED.pop()
    return {str(path): counts.get(str(path), 0) for path in paths}


OPENED: list[dict[str, int]] = []


def count_opened(event: str, values: tuple[object, ...]) -> None:
    if event == "open" and OPENED:
        path = str(values[0])
        OPENED[-1][path] = OPENED[-1].get(path, 0) + 1


sys.addaudithook(count_opened)
