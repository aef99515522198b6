"""Files without TensorFlow that a program with it imports: who imports them is found on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.cli import main
from tfmemlint.glances import Glances, imported_in

DATA = """
import glob

import cv2
import numpy as np


def load(folder):
    images = []
    for path in glob.glob(folder):
        images.append(cv2.imread(path))
    return np.array(images)
"""
FOUND = "data.py:12:12: TFM604"
TRAIN = "import tensorflow as tf\nfrom data import load\n\nmodel.fit(load('*.png'))\n"
TORCH = "import torch\nfrom data import load\n\ntrain(load('*.png'))\n"
CLEAN = "import tensorflow as tf\n\nprint(tf.constant(1))\n"

Check = Callable[..., str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TFMEMLINT_OUTPUT_FORMAT", raising=False)
    return tmp_path


@pytest.fixture
def check(here: Path, capsys: pytest.CaptureFixture[str]) -> Check:
    def checked(*arguments: str) -> str:
        main(["check", "--output-format=concise", "--no-cache", *arguments])
        return capsys.readouterr().out

    return checked


def write(root: Path, **files: str) -> None:
    """Write files: `pkg__model` is `pkg/model.py`."""
    for name, text in files.items():
        path = root / (name.replace("__", "/").replace("INIT", "__init__") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


PROGRAMS = {
    "by its training": {"train": TRAIN},
    "by a file between": {
        "train": TRAIN.replace("from data", "from loader"),
        "loader": "from data import load\n",
    },
    "with a model of another file": {
        "train": "from data import load\nfrom model import make\n\nmake().fit(load('*.png'))\n",
        "model": "import keras\n\ndef make():\n    return keras.Sequential()\n",
    },
    "in a function": {"train": "import keras\ndef main():\n    if True: import data\n"},
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_a_file_that_a_program_with_tensorflow_imports_is_looked_at(
    here: Path, check: Check, files: dict[str, str]
) -> None:
    write(here, data=DATA, **files)

    assert FOUND in check()
    assert FOUND in check("data.py")


OTHERS: dict[str, dict[str, str]] = {
    "nobody": {},
    "another library": {"train": TORCH},
    "a program that only speaks of TensorFlow": {"train": f"# as in tensorflow\n{TORCH}"},
    "another program stands beside it": {"train": TORCH, "other": CLEAN},
    "a test": {"test_data": TRAIN},
    "a file of that name": {"train": TRAIN.replace("from data", "from parts.data"), "data_": CLEAN},
    "an attribute of that name": {"train": "import keras\nfrom configs import data\n"},
}


@pytest.mark.parametrize("files", OTHERS.values(), ids=OTHERS.keys())
def test_a_file_that_others_import_is_left_alone(
    here: Path, check: Check, files: dict[str, str]
) -> None:
    write(here, data=DATA, **files)

    assert "TFM604" not in check()
    assert "TFM604" not in check("data.py")


def test_a_package_is_imported_from_outside(here: Path, check: Check) -> None:
    write(here, pkg__INIT="", pkg__data=DATA, scripts__train=TRAIN.replace("data", "pkg.data"))
    (here / "setup.py").write_text("")

    assert "TFM604" in check("pkg/data.py")


def test_a_notebook_imports_it(here: Path, check: Check) -> None:
    write(here, data=DATA)
    cell: dict[str, object] = {
        "cell_type": "code",
        "source": TRAIN.splitlines(keepends=True),
        "metadata": {},
    }
    cell |= {"outputs": [], "execution_count": None}
    notebook: dict[str, object] = {"cells": [cell], "nbformat": 4, "nbformat_minor": 5}
    notebook["metadata"] = dict[str, object]()
    (here / "train.ipynb").write_text(json.dumps(notebook))

    assert FOUND in check("data.py")


def test_it_is_turned_off_with_the_other_files(here: Path, check: Check) -> None:
    write(here, data=DATA, train=TRAIN)

    assert "TFM604" not in check("--no-follow-imports", "data.py")


def test_a_model_may_be_handed_to_a_file_without_tensorflow(here: Path, check: Check) -> None:
    loop = (
        "def play(model, steps):\n    for step in range(1000):\n        model.predict(step[None])\n"
    )
    made = "import keras\nfrom play import play\n\nplay({})\n"
    write(here, play=loop, train=made.format("keras.Sequential([keras.layers.Dense(1)])"))
    assert "play.py:3:9: TFM303" in check("play.py")

    write(here, train=made.format("sklearn.svm.SVC()"))
    assert "TFM303" not in check("play.py")


def test_what_a_script_hands_to_nobody_is_its_own(here: Path, check: Check) -> None:
    write(here, tools=DATA.replace("cv2.imread", "print"), train=TRAIN.replace("data", "tools"))

    assert "All checks passed!" in check("tools.py")


@pytest.mark.parametrize("text", [TORCH, "", f"# as in tensorflow\n{TORCH}"])
def test_a_changed_importer_is_heeded_where_files_are_remembered(
    here: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    write(here, data=DATA, train=text, **{f"clean{number}": CLEAN for number in range(20)})
    age(here)
    for _ in range(2):
        assert remembered(here, capsys) == []

    write(here, train=TRAIN)
    (line,) = remembered(here, capsys)
    assert line.startswith(FOUND)

    write(here, train=text)
    assert remembered(here, capsys) == []

    write(here, train=TRAIN.replace("data", "between"), between="from data import load\n")
    assert remembered(here, capsys) == [line]


def remembered(here: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines about rules of a run that remembers."""
    main(["check", "--output-format=concise"])
    return [line for line in capsys.readouterr().out.splitlines() if "TFM" in line]


def age(here: Path) -> None:
    """Let files be old enough for their times to be trusted."""
    for path in here.rglob("*.py"):
        os.utime(path, (1_600_000_000, 1_600_000_000))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import a", {"a"}),
        ("import a.b as c, d", {"a.b", "as", "c", "d"}),
        ("from a import b", {"a", "a.b"}),
        ("from . import b", {".", ".b"}),
        ("from ..a import (\n    b,\n    c,\n)", {"..a", "..a.b", "..a.c"}),
        ("from a \\\n    import b", {"a", "a.b"}),
        ("if x: import a; from b import c", {"a", "b", "b.c"}),
        ('  "import a\\n",\n  "from b import c"', {"a", "n", "b", "b.c"}),
        ("\x0cimport a\rimport b", {"a", "b"}),
        ("from importlib import reload", {"importlib", "importlib.reload"}),
        ("important = 1\nx = importer(a)\n# imports a", set[str]()),
    ],
)
def test_what_looks_like_an_import_is_one(text: str, names: set[str]) -> None:
    assert set(imported_in(text.encode())) == names


def test_what_is_imported_by_name_may_be_any_word(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text("import_module('models.' + kind)\n")

    assert {"models", "kind"} <= Glances().of(str(path)).words


@pytest.mark.parametrize(
    "added",
    [
        'sys.path.append("../utils")',
        "sys.path.insert(0, '../utils/')",
        'sys.path.append(os.path.join(os.getcwd(), "src", "utils"))',
        'sys.path.append(os.path.join(os.path.dirname(__file__), "..", "utils"))',
    ],
)
def test_a_program_says_where_else_python_is_to_look(here: Path, check: Check, added: str) -> None:
    write(here, src__utils__data=DATA, src__model__train=f"import os, sys\n{added}\n{TRAIN}")

    assert "TFM604" in check("src/utils/data.py")


@pytest.mark.parametrize(
    "added",
    [
        "",
        'sys.path.append("../other")',
        'sys.path.append("/opt/src/utils")',
        'print("../utils")',
    ],
)
def test_where_else_python_is_to_look_is_known_or_not(here: Path, check: Check, added: str) -> None:
    write(here, src__utils__data=DATA, src__model__train=f"import sys\n{added}\n{TRAIN}")

    assert "TFM604" not in check("src/utils/data.py")


SCRIPT = f"{DATA}\n\nnp.save('images.npy', load('*.png'))\n"


@pytest.mark.parametrize(
    ("script", "train", "found"),
    [
        (SCRIPT, CLEAN, True),
        (SCRIPT.replace("np.save(", "h5py.File("), CLEAN, True),
        (DATA, CLEAN, False),
        (SCRIPT, "import torch\n", False),
        (SCRIPT, f"import torch\n{CLEAN}", False),
        (SCRIPT, "# tensorflow\nimport sklearn\n", False),
    ],
    ids=["saves", "in HDF5", "saves nothing", "torch", "both", "only spoken of"],
)
def test_a_script_prepares_arrays_for_a_project_that_has_tensorflow_alone(
    here: Path, check: Check, script: str, train: str, found: bool
) -> None:
    write(here, tools__data=script, train=train)
    (here / "setup.cfg").write_text("")

    assert ("TFM604" in check()) == found
    assert ("TFM604" in check("tools/data.py")) == found


def test_a_script_is_looked_at_again_when_the_project_gets_tensorflow(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(here, data=SCRIPT, train="import sklearn\n", **{f"a{n}": "" for n in range(20)})
    age(here)
    assert remembered(here, capsys) == []

    write(here, train=CLEAN)
    (line,) = remembered(here, capsys)
    assert line.startswith(FOUND)

    write(here, other="import torch\n")
    assert remembered(here, capsys) == []
