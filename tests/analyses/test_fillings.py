"""Lists that `map` could make."""

import ast
from collections.abc import Callable
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.fillings import Filling, Fillings

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = """
import cv2
import tensorflow as tf

def read(path):
    return tf.io.decode_png(tf.io.read_file(path), channels=3)
"""
LOOP = """
images = []
for path in paths:
    image = read(path)
    images.append(image / 255)
see(images)
"""


def filling(look: Look, source: str) -> tuple[File, Filling | None]:
    """How the list given to `see` is filled."""
    file, (reader,) = look(IMPORTS + dedent(source))
    gathered = file.tf.loading.gathered(reader)
    assert gathered is not None
    return file, file.tf.of(Fillings).of(gathered, reader)


def test_a_comprehension_of_operations_fills_a_list(look: Look) -> None:
    file, found = filling(look, "see([read(path) / 255 for path in sorted(paths)])")

    assert found is not None
    assert file.source(found.sequence) == "sorted(paths)"
    assert (found.each, file.source(found.made), found.appends) == (
        "path",
        "read(path) / 255",
        None,
    )


def test_a_loop_of_operations_fills_a_list(look: Look) -> None:
    file, found = filling(look, LOOP)

    assert found is not None
    assert found.appends is not None
    assert (file.source(found.sequence), found.each) == ("paths", "path")
    assert file.source(found.made) == "image / 255"
    assert [file.source(each) for each in (found.appends[0].target, found.appends[1])] == [
        "path",
        "images.append(image / 255)",
    ]


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("see([cv2.imread(path) for path in paths])", id="no operation"),
        pytest.param("see([read(path) for path in paths if path])", id="a choice"),
        pytest.param("see([read(path) for path in set(paths)])", id="no order"),
        pytest.param("see([read(path) for n, path in enumerate(paths)])", id="two variables"),
        pytest.param(
            "see([read(p) for f in folders for p in tf.io.gfile.glob(f)])", id="two loops"
        ),
        pytest.param("images = [read(p) for p in paths]\nsee(images)", id="a list with a name"),
        pytest.param("see([x / 255 for x in [read(p) for p in paths]])", id="made of another list"),
    ],
)
def test_a_comprehension_that_map_could_not_make_fills_none(look: Look, source: str) -> None:
    assert filling(look, source)[1] is None


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        pytest.param("read(path)\n", "cv2.imread(path)\n", id="no operation"),
        pytest.param("images = []", "images, labels = [], []", id="two lists begun at once"),
        pytest.param("images = []", "images = []\nprint(paths)", id="something above the loop"),
        pytest.param("see(", "print(paths)\nsee(", id="something below the loop"),
        pytest.param("see(images)", "see(images)\nprint(images)", id="another reader"),
        pytest.param("see(images)", "see(images)\nprint(image)", id="a name left behind"),
        pytest.param("    images.", "    if path: images.", id="a choice"),
        pytest.param("255)", "255)\n    print(path)", id="something behind the append"),
        pytest.param("see(", "else:\n    print(1)\nsee(", id="an else"),
        pytest.param("append(image / 255)", "extend([image])", id="no append"),
        pytest.param("in paths", "in set(paths)", id="no order"),
    ],
)
def test_a_loop_that_map_could_not_stand_for_fills_none(
    look: Look, part: str, instead: str
) -> None:
    assert LOOP.count(part) == 1

    assert filling(look, LOOP.replace(part, instead))[1] is None


def test_a_loop_in_a_class_fills_none(look: Look) -> None:
    inside = "class Data:" + LOOP.replace("\n", "\n    ")

    assert filling(look, inside)[1] is None
