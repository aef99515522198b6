"""What one file makes is found where another one calls it: through the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.cli import main

MODEL = """
import tensorflow as tf


def make_step(model, optimizer):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x))
        optimizer.apply_gradients(zip(tape.gradient(loss, model.weights), model.weights))
        return loss

    return step


def train_epoch(model, batches):
    @tf.function
    def step(x):
        return model(x)

    for batch in batches:
        step(batch)


def compiled(function):
    return tf.function(function, jit_compile=True)


class Trainer:
    def __init__(self, model):
        self.model = model

    def step(self, x):
        return self.model(x)

    def make(self):
        return tf.function(self.step)

    @staticmethod
    def wrapped(model):
        return tf.function(model)
"""
TRAIN = """
from model import make_step


def train(model, optimizer, batches):
    for epoch in range(100):
        step = make_step(model, optimizer)
        for batch in batches:
            step(batch)
"""
FOUND = "train.py:7:16: TFM102 `make_step` gives another `tf.function` in every round of `for epoch"
CLEAN = "import tensorflow as tf\n\nprint(tf.constant(1))\n"

READER = """
import cv2
import numpy as np


def read_image(path, size=None):
    image = cv2.imread(path)
    return image if size is None else cv2.resize(image, size)


def decoded(image):
    return image / 255.0


def names_of(path):
    return path.split("_")
"""
STACK = """
import numpy as np
import tensorflow as tf
import readers

def load(paths):
    images = []
    for path in paths:
        image = {call}
        images.append(image)
    return np.array(images)

labels = open("labels.txt").read()
model.fit(load(glob.glob("*.png")), labels)
"""

Check = Callable[..., str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def check(here: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    def checked(*arguments: str) -> str:
        main(["check", "--output-format=concise", "--isolated", "--no-cache", *arguments])
        return capsys.readouterr().out

    return checked


PASSED = "All checks passed!"


def write(root: Path, **files: str) -> None:
    """Write files: `pkg__model` is `pkg/model.py`."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("INIT", "__init__"))


def test_a_folder_that_is_named_may_be_a_projects(
    here: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(
        here / "project",
        lib__model=MODEL,
        runs__train=TRAIN.replace("from model", "from lib.model"),
    )
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")

    assert FOUND in check("../project")
    assert FOUND in check("../project/runs", "../project")
    assert FOUND not in check("../project/runs")


def test_a_factory_in_another_file_is_found_where_both_are_given(here: Path, check: Check) -> None:
    write(here, model=MODEL, train=TRAIN)

    assert FOUND in check("model.py", "train.py")
    assert FOUND in check("train.py", "model.py")
    assert FOUND in check()


def test_a_file_alone_says_what_it_says_among_others(here: Path, check: Check) -> None:
    write(here, model=MODEL, train=TRAIN)

    assert check("train.py").startswith(FOUND)
    assert check("model.py").startswith(PASSED)


CALLS = {
    "what is returned": "for _ in range(9):\n    make_step(model, optimizer)(batch)",
    "what is called there and then": "for _ in range(9):\n    train_epoch(model, batches)",
    "what wraps a function": "for x in batches:\n    compiled(model)(x)",
    "a method's": "trainer = Trainer(model)\nfor x in batches:\n    trainer.make()(x)",
    "a static method's": "for x in batches:\n    Trainer.wrapped(model)(x)",
    "an attribute's": "class Loop:\n    def __init__(self):\n"
    "        self.trainer = Trainer(model)\n"
    "    def run(self):\n        for x in batches:\n            self.trainer.make()(x)",
    "through a function here": "def build():\n    return make_step(model, optimizer)\n\n"
    "for x in batches:\n    build()(x)",
    "at every call": "def score(x):\n    return compiled(model)(x)\n\n"
    "for x in batches:\n    score(x)",
    "by keywords": "for _ in range(9):\n    make_step(optimizer=optimizer, model=model)(batch)",
    "in a comprehension": "ys = [compiled(model)(x) for x in batches]",
    "run by a strategy": "for x in batches:\n    strategy.run(compiled(model), args=(x,))",
}
NO_CALLS = {
    "before the loop": "step = make_step(model, optimizer)\nfor x in batches:\n    step(x)",
    "a few rounds": "for _ in range(3):\n    train_epoch(model, batches)",
    "a model for each": "for _ in range(9):\n    train_epoch(build(), batches)",
    "a model for each, by name": "for _ in range(9):\n    candidate = build()\n"
    "    make_step(candidate, optimizer)(batch)",
    "a model for each, from a list": "for candidate in candidates:\n"
    "    train_epoch(candidate, batches)",
    "a model for each, by index": "for i in range(9):\n    train_epoch(candidates[i], batches)",
    "a model for each, set": "for _ in range(9):\n    self.model = build()\n"
    "    train_epoch(self.model, batches)",
    "a model for each, in a function": "def run(candidate):\n    train_epoch(candidate, batches)\n"
    "for _ in range(9):\n    run(build())",
    "an object for each": "for _ in range(9):\n    Trainer(build()).make()(batch)",
    "kept": "steps = []\nfor _ in range(9):\n    steps.append(make_step(model, optimizer))",
    "kept under a condition": "step = None\nfor x in batches:\n    if step is None:\n"
    "        step = make_step(model, optimizer)\n    step(x)",
    "who knows with what": "for _ in range(9):\n    make_step(*made)(batch)",
    "of the same name": "def make_step(model):\n    return model\n\n"
    "for x in batches:\n    make_step(model)(x)",
    "in a traced function": "import tensorflow as tf\n\n@tf.function\ndef outer(x):\n"
    "    for _ in range(9):\n        x = compiled(model)(x)\n    return x",
    "a script's main function": "def main(model, batches):\n    train_epoch(model, batches)",
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_ways_to_call_a_factory(here: Path, check: Check, call: str) -> None:
    names = "Trainer, compiled, make_step, train_epoch"
    write(here, model=MODEL, train=f"from model import {names}\n\n{call}\n")

    output = check()

    assert output.count("TFM102") == 1
    # What is made and called there and then is told of where it stands.
    is_called_there = call == CALLS["what is called there and then"]
    assert output.startswith("model.py:" if is_called_there else "train.py:")
    assert check("--no-follow-imports").startswith(PASSED)


@pytest.mark.parametrize("call", NO_CALLS.values(), ids=NO_CALLS)
def test_calls_that_make_a_function_once_or_for_each_thing(
    here: Path, check: Check, call: str
) -> None:
    names = "Trainer, compiled, make_step, train_epoch"
    write(here, model=MODEL, train=f"from model import {names}\n\n{call}\n")

    assert check().startswith(PASSED)


IMPORTS = {
    "from model import make_step as make": "make",
    "import model": "model.make_step",
    "import model as m": "m.make_step",
    "import model\nmake = model.make_step": "make",
}


@pytest.mark.parametrize(
    ("statement", "callee"),
    IMPORTS.items(),
)
def test_ways_to_import_a_module(here: Path, check: Check, statement: str, callee: str) -> None:
    call = f"for _ in range(9):\n    {callee}(model, optimizer)(batch)"
    write(here, model=MODEL, train=f"{statement}\n\n{call}\n")

    assert f"`{callee}` gives another `tf.function`" in check()


@pytest.mark.parametrize(
    ("importer", "statement", "callee"),
    [
        ("pkg__train", "from .model import make_step", "make_step"),
        ("pkg__train", "from . import model", "model.make_step"),
        ("pkg__train", "from . import make_step", "make_step"),
        ("pkg__sub__train", "from ..model import make_step", "make_step"),
        ("pkg__sub__train", "from .. import model as m", "m.make_step"),
        ("pkg__sub__train", "from pkg.model import make_step", "make_step"),
        ("train", "from pkg.model import make_step", "make_step"),
        ("train", "from pkg import make_step", "make_step"),
        ("train", "from pkg import model", "model.make_step"),
        ("train", "import pkg.model", "pkg.model.make_step"),
        ("train", "import pkg", "pkg.make_step"),
        ("train", "import pkg", "pkg.model.make_step"),
        ("scripts__train", "from pkg import make_step", "make_step"),
    ],
)
@pytest.mark.parametrize("root", ["", "src__"])
@pytest.mark.parametrize(
    "init",
    ["from .model import make_step\n", "from .model import *\n", "from pkg.model import *\n"],
)
def test_ways_through_a_package(
    here: Path, check: Check, importer: str, statement: str, callee: str, root: str, init: str
) -> None:
    call = f"for _ in range(9):\n    {callee}(model, optimizer)(batch)"
    importer = importer if "pkg" not in importer else root + importer
    write(here, **{importer: f"{statement}\n\n{call}\n"})
    write(here, **{f"{root}pkg__model": MODEL})
    (here / root.replace("__", "/") / "pkg" / "__init__.py").write_text(init)

    assert f"`{callee}` gives another `tf.function`" in check()


def test_a_folder_in_a_package_needs_no_file_of_its_own(here: Path, check: Check) -> None:
    write(here, pkg__INIT="VERSION = 1\n", pkg__parts__model=MODEL)
    write(here, train=TRAIN.replace("model import", "pkg.parts.model import"))

    assert FOUND in check()


def test_imports_that_go_in_a_circle_lead_nowhere(here: Path, check: Check) -> None:
    write(
        here,
        model=MODEL + "\nfrom train import train\n",
        train=TRAIN,
        one="from two import *\nfrom two import make_step\n",
        two="from one import *\nfrom one import make_step\n",
        user=TRAIN.replace("model import", "one import"),
    )

    output = check()

    assert FOUND in output
    assert output.count("TFM102") == 1


def test_two_files_that_call_functions_of_each_other_are_checked_in_full(
    here: Path, check: Check
) -> None:
    """Each is asked for what it makes because of what the other calls."""
    again = "\n\ndef again(model, batches):\n    train_epoch(model, batches)\n"
    write(
        here,
        model=MODEL + "\n\ndef rerun(batches):\n    from train import train\n    train(batches)\n",
        train=TRAIN + "\n\n@tf.function\ndef halve(x):\n    return x / 2\n" + again,
    )

    output = check()

    assert FOUND in output
    assert "TFM003" not in output


def test_a_module_that_is_not_where_python_looks_is_none(here: Path, check: Check) -> None:
    write(here, one__model=MODEL, scripts__train=TRAIN)

    assert check().startswith(PASSED)
    assert check("one", "scripts").startswith(PASSED)


def test_a_module_beside_the_script_comes_before_one_above(here: Path, check: Check) -> None:
    write(here, model=CLEAN, scripts__model=MODEL, scripts__train=TRAIN)

    assert "TFM102" in check()


def test_a_name_that_two_modules_may_mean_means_none(here: Path, check: Check) -> None:
    write(here, model=MODEL, src__model=MODEL, scripts__train=TRAIN)

    assert check().startswith(PASSED)


@pytest.mark.parametrize("name", ["random", "keras", "numpy"])
def test_a_library_is_not_taken_for_a_file_of_its_name(here: Path, check: Check, name: str) -> None:
    write(here, **{name: MODEL, "train": TRAIN.replace("model import", f"{name} import")})

    assert check().startswith(PASSED)


@pytest.mark.parametrize(
    "model",
    [
        MODEL.replace("def make_step", "if FAST:\n    make_step = None\n\n\ndef make_step"),
        MODEL.replace("def make_step", "import functools\n\n\n@functools.cache\ndef make_step"),
        MODEL.replace(
            "    return step\n\n\ndef train",
            "    STEPS.append(step)\n    return step\n\n\ndef train",
        ),
        MODEL.replace(
            "    return step\n\n\ndef train", "    return step if model else None\n\n\ndef train"
        ),
        MODEL.replace("(model, optimizer):\n", "(model, optimizer):\n    model = build()\n"),
        MODEL.replace("def make_step(", "async def make_step("),
        MODEL.replace(
            "    @tf.function\n    def step(x):\n        with", "    def step(x):\n        with"
        ),
        "import pytest\n" + MODEL,
    ],
    ids=["two", "cached", "kept", "perhaps", "private", "async", "plain", "test"],
)
def test_functions_that_are_no_factories(here: Path, check: Check, model: str) -> None:
    write(here, model=model, train=TRAIN)

    assert model != MODEL
    assert check().startswith(PASSED)


@pytest.mark.parametrize(
    "data",
    [
        b"import tensorflow as tf\ndef make_step(: tf.function",
        b"\xff\xfe\x00 tensorflow function make_step",
        b"import tensorflow as tf  # \xe9 make_step function\n",
        b"import tensorflow as tf\n" + b"x = 1  # make_step function\n" * 80_000,
        b"import tensorflow as tf; function = make_step = " + b"(" * 150 + b")" * 150,
    ],
    ids=["damaged", "binary", "undecodable", "huge", "deep"],
)
def test_what_cannot_be_checked_spoils_nothing(here: Path, check: Check, data: bytes) -> None:
    write(here, model=MODEL, train=TRAIN)
    alone = check()
    (here / "broken.py").write_bytes(data)
    (here / "user.py").write_text(TRAIN.replace("model import", "broken import"))

    output = check()

    assert FOUND in alone
    others = [line for line in output.splitlines() if not line.startswith("broken.py")]
    assert others[0] == alone.splitlines()[0]
    assert output.count("TFM102") == 1


def test_what_is_not_of_the_project_is_not_opened(
    here: Path, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here, model=MODEL, project__train=TRAIN)
    (here / "project" / "setup.cfg").touch()
    opened: set[str] = set()
    sys.addaudithook(lambda event, values: opened.add(str(values[0])) if event == "open" else None)

    check("project/train.py")

    assert any(path.endswith("train.py") for path in opened)
    assert not any(path.endswith("model.py") for path in opened)


def test_nothing_of_a_neighbour_is_run(here: Path, check: Check) -> None:
    ran = here / "ran"
    write(here, model=MODEL + f"\nopen({str(ran)!r}, 'w')\n", train=TRAIN)

    assert FOUND in check()
    assert not ran.exists()


def test_a_notebook_imports_from_files(here: Path, check: Check) -> None:
    write(here, model=MODEL)
    source = json.dumps(TRAIN.splitlines(keepends=True))
    cell = f'{{"cell_type": "code", "metadata": {{}}, "outputs": [], "source": {source}}}'
    notebook = f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 2}}'
    (here / "train.ipynb").write_text(notebook)

    assert "train.ipynb:cell 1:7:16: TFM102 `make_step` gives" in check()
    assert check("train.ipynb") == check()


def test_standard_input_has_the_neighbours_of_its_name(here: Path) -> None:
    write(here, model=MODEL, train=TRAIN)
    command = [sys.executable, "-m", "tfmemlint", "check", "--stdin-filename", "train.py", "-"]
    done = subprocess.run(command, input=TRAIN, capture_output=True, text=True, check=False)

    assert (done.returncode, "TFM102" in done.stdout) == (1, True)


def test_a_comment_suppresses_whether_or_not_the_other_file_is_given(
    here: Path, check: Check
) -> None:
    train = TRAIN.replace("optimizer)\n        for", "optimizer)  # noqa: TFM102\n        for")
    write(here, model=MODEL, train=f"import tensorflow as tf\n{train}")

    assert train != TRAIN
    assert check().startswith(PASSED)
    assert check("train.py").startswith(PASSED)
    assert "TFM005" in check("train.py", "--no-follow-imports")


def test_settings_turn_it_off(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(here, model=MODEL, train=TRAIN)
    (here / "tfmemlint.toml").write_text("follow-imports = false\n")

    assert main(["check"]) == 0
    assert main(["check", "--follow-imports"]) == 1
    capsys.readouterr()


def test_rules_that_are_not_selected_or_are_ignored_there_stay_silent(
    here: Path, check: Check
) -> None:
    write(here, model=MODEL, train=TRAIN)

    assert check("--ignore=TFM102").startswith(PASSED)
    assert check("--per-file-ignores=train.py:TFM102").startswith(PASSED)
    assert FOUND in check("--per-file-ignores=model.py:TFM102")


def test_fixes_are_applied_and_counted_once(here: Path, check: Check) -> None:
    slow = "\n\nds = tf.data.TFRecordDataset('a').batch(32).shuffle(1000)\n"
    write(here, model=MODEL, train="import tensorflow as tf\n" + TRAIN + slow)

    wanted = check("--fix", "--unsafe-fixes", "--diff")
    output = check("--fix", "--unsafe-fixes", "--show-fixes")

    assert "+ds = tf.data.TFRecordDataset('a').shuffle(1000).batch(32)" in wanted
    assert "1 \N{MULTIPLICATION SIGN} TFM202" in output
    assert "TFM102" in output
    assert "shuffle(1000).batch(32)" in (here / "train.py").read_text()


def test_several_processes_say_what_one_says(here: Path, check: Check) -> None:
    for number in range(100):
        write(here, **{f"train{number}": TRAIN, f"clean{number}": CLEAN})
    write(here, model=MODEL)

    alone = check("--jobs=1")

    assert alone.count("TFM102") == 100
    assert check("--jobs=3") == alone


def test_what_reads_images_may_change_while_the_file_that_stacks_them_does_not(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = STACK.replace("{call}", "readers.read_image(path)")
    write(here, stack=stack, **{f"clean{number}": CLEAN for number in range(20)})
    age(here)
    assert remembered(here, capsys) == []

    write(here, readers=READER)
    (line,) = remembered(here, capsys)
    assert line.startswith("stack.py:")
    assert "TFM604" in line

    write(here, readers=READER.replace("cv2.imread", "len"))
    assert remembered(here, capsys) == []


def remembered(here: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines about rules of a run that remembers."""
    main(["check", "--output-format=concise"])
    return [line for line in capsys.readouterr().out.splitlines() if "TFM" in line]


def age(here: Path) -> None:
    """Let files be old enough for their times to be trusted."""
    for path in here.rglob("*.py"):
        os.utime(path, (1_600_000_000, 1_600_000_000))


PLAIN = MODEL.replace("tf.function", "staticmethod")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"model": PLAIN}, {"model": MODEL}),
        ({}, {"model": MODEL}),
        ({"model": "from deep import *\n", "deep": PLAIN}, {"deep": MODEL}),
        (
            {"model": "from deep import x\n", "deep": MODEL},
            {"model": "from deep import make_step\n"},
        ),
        ({"model": MODEL.replace("return step\n", "return None\n")}, {"model": MODEL}),
    ],
    ids=["becomes", "appears", "behind", "handed on", "returns"],
)
def test_a_clean_file_is_checked_again_when_only_its_neighbour_changes(
    here: Path,
    capsys: pytest.CaptureFixture[str],
    before: dict[str, str],
    after: dict[str, str | None],
) -> None:
    write(here, train=TRAIN, **before, **{f"clean{number}": CLEAN for number in range(20)})
    age(here)
    assert remembered(here, capsys) == []
    assert remembered(here, capsys) == []

    for name, text in after.items():
        if text is None:
            (here / (name.replace("__", "/") + ".py")).unlink()
        else:
            write(here, **{name: text})

    (line,) = remembered(here, capsys)
    assert line.startswith(FOUND)
    assert remembered(here, capsys) == [line]

    write(here, **before)
    for name in after.keys() - before.keys():
        (here / (name.replace("__", "/") + ".py")).unlink()
    assert remembered(here, capsys) == []


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("readers.read_image(path)", True),
        ("readers.read_image(path, (32, 32)) / 255", True),
        ("readers.names_of(path)", False),
        ("readers.decoded(load_one(path))", False),
        ("readers.unknown(path)", False),
        ("others.read_image(path)", False),
        ("readers.read_image(cache[0])", False),
    ],
)
def test_images_that_another_file_reads_are_known_to_be_images(
    here: Path, check: Check, call: str, found: bool
) -> None:
    write(here, readers=READER, stack=STACK.replace("{call}", call))

    assert ("TFM604" in check()) == found
    assert ("TFM604" in check("stack.py")) == found
    assert "TFM604" not in check("--no-follow-imports")
