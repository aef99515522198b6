"""Lists that hold an array for each file of a data set."""

import ast
from collections.abc import Callable
from textwrap import indent

import pytest

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]

IMPORTS = """
import csv, cv2, glob, io, os, random
import numpy as np
import tensorflow as tf
from keras.utils import img_to_array, load_img
from pathlib import Path
from PIL import Image
from utils import augment
paths = glob.glob("*.png")
"""


def loaded(look: Look, source: str) -> list[str | None]:
    """What the loops behind the marked lists go over; None where that is no whole data set."""
    file, seen = look(IMPORTS + source)
    found = [file.tf.loading.gathered(each) for each in seen]
    return [None if each is None else file.source(each.files) for each in found]


@pytest.mark.parametrize(
    "element",
    [
        "tf.io.decode_png(tf.io.read_file(p))",
        "tf.image.resize(tf.image.decode_jpeg(tf.io.read_file(p)), (8, 8)) / 255",
        "cv2.resize(cv2.imread(os.path.join('folder', p)), (8, 8))[..., ::-1]",
        "np.array(Image.open(f'folder/{p}').convert('RGB'))",
        "np.asarray(Image.open(io.BytesIO(open(p, 'rb').read())))",
        "img_to_array(load_img(Path('folder') / p)).astype('uint8')",
        "np.load(p)['image']",
        "[cv2.imread(p), 1]",
        "cv2.imread(p) if p else None",
        "cv2.imread(p) > 0",
    ],
)
def test_an_array_read_from_a_path_is_loaded(look: Look, element: str) -> None:
    assert loaded(look, f"see([{element} for p in paths])") == ["paths"]


@pytest.mark.parametrize(
    "source",
    [
        "xs = [cv2.imread(p) for p in paths]\nxs = [x.reshape(-1) for x in xs]\nsee(xs)",
        "xs = [cv2.imread(p) for p in paths]\nsee([x / 255 for x in xs])",
        "xs = [cv2.imread(p) for p in paths]\nys = [1]\nsee([ys, xs])",
        "xs = [cv2.imread(p) for p in paths]\nys = []\nsee(ys + xs)",
    ],
)
def test_what_is_made_of_each_array_or_holds_the_list_is_as_large(look: Look, source: str) -> None:
    assert loaded(look, source) == ["paths"]


@pytest.mark.parametrize(
    "source",
    [
        "xs = [cv2.imread(p) for p in paths]\nsee([len(x) for x in xs])",
        "xs = [cv2.imread(p) for p in paths]\nsee([x.mean() for x in xs])",
        "xs = [cv2.imread(p) for p in paths]\nsee([1 for x in xs])",
        "xs = [cv2.imread(p) for p in paths]\nsee([len(xs), len(paths)])",
        "xs = [cv2.imread(p) for p in paths]\nsee([y for x in xs for y in x])",
    ],
)
def test_what_is_counted_of_each_array_is_not(look: Look, source: str) -> None:
    assert loaded(look, source) == [None]


@pytest.mark.parametrize(
    "element",
    [
        pytest.param("p", id="the path"),
        pytest.param("open(p).read()", id="text"),
        pytest.param("tf.io.read_file(p)", id="bytes, not decoded"),
        pytest.param("Path(p).read_text()", id="text of a path"),
        pytest.param("tf.io.decode_png(p)", id="bytes that were never in a file"),
        pytest.param("Image.open(io.BytesIO(p))", id="a picture that was never in a file"),
        pytest.param("tf.reduce_mean(cv2.imread(p))", id="a mean"),
        pytest.param("cv2.imread(p).mean()", id="a mean by a method"),
        pytest.param("cv2.imread(p).shape", id="a shape"),
        pytest.param("len(cv2.imread(p))", id="a length"),
        pytest.param("cv2.imread(p)[0]", id="a row"),
        pytest.param("model.predict(cv2.imread(p))", id="a prediction"),
        pytest.param("augment(cv2.imread(p))", id="whatever another module makes of it"),
        pytest.param("cv2.imread('mask.png') * len(p)", id="the same file each time"),
    ],
)
def test_anything_else_is_not(look: Look, element: str) -> None:
    assert loaded(look, f"see([{element} for p in paths])") == [None]


@pytest.mark.parametrize(
    ("body", "files"),
    [
        ("xs = []\nfor p in paths:\n    xs.append(cv2.imread(p))\nsee(xs)", "paths"),
        ("xs = []\nfor p in paths:\n    xs += [cv2.imread(p)]\nsee(xs)", "paths"),
        (
            "xs, ys = [], []\n"
            "for i, p in enumerate(sorted(paths)):\n"
            "    x = cv2.imread(p)\n"
            "    x -= x.mean()\n"
            "    xs.append(x)\n"
            "    ys.append(i)\n"
            "see(ys)\nsee(xs)",
            "paths",
        ),
        (
            "xs = []\nfor i in range(len(paths)):\n    xs.append(cv2.imread(paths[i]))\nsee(xs)",
            "paths",
        ),
        (
            "xs = []\n"
            "for name in os.listdir('.'):\n"
            "    for file in os.listdir(name):\n"
            "        xs.append(cv2.imread(os.path.join(name, file)))\n"
            "see(xs)",
            "os.listdir(name)",
        ),
        (
            "xs = []\nfor start in range(0, len(paths), 8):\n"
            "    for p in paths[start:start + 8]:\n        xs.append(cv2.imread(p))\nsee(xs)",
            "paths",
        ),
        (
            "xs = []\nfor y, p in zip(labels, paths):\n    xs.append(cv2.imread(p))\nsee(xs)",
            "zip(labels, paths)",
        ),
        (
            "names, xs = [], []\nfor row in rows:\n    names.append(row[0])\n"
            "for name in names:\n    xs.append(cv2.imread(name))\nsee(xs)",
            "names",
        ),
        (
            "names = []\nfor folder in ('a', 'b'):\n    names.extend(os.listdir(folder))\n"
            "see([cv2.imread(name) for name in names])",
            "names",
        ),
        (
            "names = []\nwhile more:\n    names.append(next(rows))\n"
            "see([cv2.imread(name) for name in names])",
            "names",
        ),
        ("see(list(map(cv2.imread, paths)))", "paths"),
        ("see(tuple(cv2.imread(p) for p in paths if p))", "paths"),
        ("rows = csv.reader(table)\nsee([cv2.imread(row[0]) for row in rows])", "rows"),
        (
            "def read(p, size):\n    x = cv2.imread(p)\n    return cv2.resize(x, size)\n"
            "see([read(p, (8, 8)) for p in paths])",
            "paths",
        ),
        (
            "def read(p):\n    return cv2.imread(p), p\n"
            "xs = []\nfor p in paths:\n    x, y = read(p)\n    xs.append(x)\nsee(xs)",
            "paths",
        ),
        (
            "def read(files):\n    xs = [cv2.imread(p) for p in files]\n    return xs, files\n"
            "xs, names = read(paths)\nsee(names)\nsee(xs)",
            "files",
        ),
        (
            "pairs = [(cv2.imread(p), p) for p in paths]\nsee([pair[1] for pair in pairs])\n"
            "xs, names = zip(*pairs)\nsee(names)\nsee(xs)",
            "paths",
        ),
        (
            "pairs = [(p, cv2.imread(p)) for p in paths]\nxs, names = [], []\n"
            "for i, (name, x) in enumerate(pairs):\n    xs.append(x / 255)\n"
            "    names.append(name)\nsee(names)\nsee(xs)",
            "paths",
        ),
        (
            "for split in ('train', 'test'):\n"
            "    see([cv2.imread(p) for p in glob.glob(split + '/*')])",
            "glob.glob(split + '/*')",
        ),
        (
            "def read(files):\n    see([cv2.imread(p) for p in files])\n"
            "read(paths[:8])\nread(paths)",
            "files",
        ),
    ],
)
def test_a_list_of_them_grows_with(look: Look, body: str, files: str) -> None:
    assert loaded(look, body)[-1] == files
    assert set(loaded(look, body)[:-1]) <= {None}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(
            "xs = []\nfor p in paths:\n    xs.append(cv2.imread(p))\n    if len(xs) == 8:\n"
            "        see(xs)\n        xs = []",
            id="begun anew now and then",
        ),
        pytest.param(
            "xs = []\nfor p in paths:\n    xs.append(cv2.imread(p))\n    xs.clear()\nsee(xs)",
            id="emptied",
        ),
        pytest.param(
            "xs = []\nfor p in paths:\n    xs.append(cv2.imread(p))\n    if done:\n        break\n"
            "see(xs)",
            id="left early",
        ),
        pytest.param(
            "for folder in folders:\n    see([cv2.imread(p) for p in os.listdir(folder)])",
            id="one list for each folder",
        ),
        pytest.param(
            "xs = []\nfor folder in folders:\n    names = os.listdir(folder)[:8]\n"
            "    for name in names:\n        xs.append(cv2.imread(folder + name))\nsee(xs)",
            id="a few files of each folder",
        ),
        pytest.param(
            "names, xs = [], []\nfor row in rows[:8]:\n    names.append(row[0])\n"
            "for name in names:\n    xs.append(cv2.imread(name))\nsee(xs)",
            id="files that a few rows name",
        ),
        pytest.param(
            "def read(batch):\n    names, size = [], batch.shape[0]\n"
            "    for i in range(size):\n        names.append(f(batch[i]))\n"
            "    see([cv2.imread(name) for name in names])",
            id="files that a batch names",
        ),
        pytest.param(
            "def read(files):\n    see([cv2.imread(p) for p in files])\n"
            "for i in range(0, len(paths), 8):\n    read(paths[i:i + 8])",
            id="called with slices",
        ),
        pytest.param(
            "def read(files):\n    see([cv2.imread(p) for p in files])\n"
            "for files in groups:\n    read(files)",
            id="called for each group",
        ),
        pytest.param(
            "def read(folder):\n    return [cv2.imread(p) for p in os.listdir(folder)]\n"
            "for folder in folders:\n    see(read(folder))",
            id="returned for each folder",
        ),
        pytest.param(
            "def read(folder):\n    see([cv2.imread(p) for p in os.listdir(folder)])\n"
            "pool.map(read, folders)",
            id="mapped",
        ),
        pytest.param(
            "def read(folder):\n    see([cv2.imread(p) for p in os.listdir(folder)])\n"
            "tf.py_function(read, [folder], tf.uint8)",
            id="given to py_function",
        ),
        pytest.param(
            "def read(files):\n    see([cv2.imread(p) for p in files])\n    yield 1",
            id="a generator",
        ),
        pytest.param(
            "class Batches:\n    def __getitem__(self, i):\n"
            "        see([cv2.imread(p) for p in self.files])",
            id="an item",
        ),
        pytest.param(
            "class Batches:\n    def __getitem__(self, i):\n        return self.read(self.of(i))\n"
            "    def read(self, files):\n        see([cv2.imread(p) for p in files])",
            id="what makes an item",
        ),
        pytest.param(
            "@tf.function\ndef f(files):\n"
            "    see([tf.io.decode_png(tf.io.read_file(p)) for p in files])",
            id="traced",
        ),
    ],
)
def test_a_list_that_comes_and_goes_holds_no_data_set(look: Look, body: str) -> None:
    assert loaded(look, body) == [None]


def test_what_a_class_loads_when_it_is_made_is_a_data_set(look: Look) -> None:
    body = (
        "class Photos:\n"
        "    def __init__(self, files):\n"
        "        see([cv2.imread(p) for p in files])\n"
        "    def __getitem__(self, i):\n"
        "        return self.photos[i]\n"
    )

    assert loaded(look, body) == ["files"]
    assert loaded(
        look, "def main(_):\n" + indent("see([cv2.imread(p) for p in paths])", "    ")
    ) == ["paths"]


ROWS = """
frame = pd.read_csv("faces.csv")
file = open("faces.csv")
def image(text, side):
    return np.array(text.split(" "), "uint8").reshape(side, side, 1)
"""


def parsed(look: Look, source: str) -> list[str | None]:
    """The same, for lists of what is parsed from rows of text."""
    file, seen = look(f"import pandas as pd{IMPORTS}{ROWS}{source}")
    found = [file.tf.parsing.gathered(each) for each in seen]
    assert not any(file.tf.loading.gathered(each) for each in seen)

    return [None if each is None else file.source(each.files) for each in found]


@pytest.mark.parametrize(
    ("element", "rows"),
    [
        ("image(r, 48)", "frame['pixels']"),
        ("image(r['pixels'], 48)", "csv.DictReader(file)"),
        ("image(r.pixels, 48)", "frame.itertuples()"),
        ("image(r[1], 48)", "csv.reader(file)"),
        ("image(r.strip().split(',')[1], 48)", "file.readlines()"),
        ("np.array(r[1:], 'float32').reshape((28, 28)) / 255", "csv.reader(file)"),
        ("np.array_split(r[1:], 28)", "csv.reader(file)"),
        ("np.asarray([int(p) for p in r.split()]).reshape(48, 48)", "frame['pixels']"),
        ("np.reshape(np.array(list(map(int, r.split()))), (48, 48))", "frame['pixels']"),
        ("np.fromstring(str(r), sep=' ').reshape(48, 48)", "frame['pixels']"),
        ("cv2.resize(np.array(r.split()).reshape(w, h), (96, 96))", "frame['pixels']"),
        ("img_to_array(np.array(r.split()).reshape(w, h))", "frame['pixels']"),
    ],
)
def test_an_image_is_parsed_from_a_row_of_text(look: Look, element: str, rows: str) -> None:
    assert parsed(look, f"see([{element} for r in {rows}])") == [rows]


def test_it_is_where_a_loop_takes_the_rows_apart(look: Look) -> None:
    body = (
        "xs, ys = [], []\nrows = csv.reader(file)\nnext(rows)\n"
        "for i, row in enumerate(rows):\n    y, text, _ = row\n"
        "    xs.append(image(text, 48))\n    ys.append(y)\nsee(xs)\nsee(ys)"
    )

    assert parsed(look, body) == ["rows", None]


@pytest.mark.parametrize(
    ("element", "rows"),
    [
        pytest.param("np.array(r.split(), float)", "file", id="a row of numbers"),
        pytest.param("np.array(r[1:], float)", "csv.reader(file)", id="the columns of a table"),
        pytest.param("np.array(r.split(), float).reshape(3, 4)", "file", id="a small matrix"),
        pytest.param("np.array(r.split()).reshape(1, -1)", "file", id="one row"),
        pytest.param("np.array(r.split()).reshape(w, h)", "file", id="a shape out of sight"),
        pytest.param("np.array_split(r, 2)", "csv.reader(file)", id="two halves"),
        pytest.param("r.split()", "file", id="words"),
        pytest.param("image(r, 48).mean()", "frame['pixels']", id="a mean"),
        pytest.param("image(text, 48)", "frame['pixels']", id="the same text each time"),
        pytest.param("np.array(r[1:]).reshape(28, 28)", "np.load('x.npy')", id="rows of an array"),
        pytest.param("image(r, 48)", "frame['pixels'][:64]", id="the first rows"),
        pytest.param("image(r, 48)", "frame.head(64)['pixels']", id="the head of a table"),
        pytest.param(
            "image(r, 48)", "pd.read_csv('x', nrows=9)['pixels']", id="the first rows of a file"
        ),
    ],
)
def test_numbers_words_and_a_few_rows_are_no_images(look: Look, element: str, rows: str) -> None:
    assert parsed(look, f"see([{element} for r in {rows}])") == [None]


@pytest.mark.parametrize(
    ("source", "many"),
    [
        ("import numpy as np\nsee([np.load(p) for p in paths])", "paths"),
        ("from numpy import frombuffer as f\nsee([f(open(p).read()) for p in paths])", "paths"),
        ("import numpy as np\nsee([np.frombuffer(p.read_bytes()) for p in paths])", "paths"),
        (
            "import tensorflow as tf\nsee([tf.io.decode_png(tf.io.read_file(p)) for p in paths])",
            "paths",
        ),
        ("import numpy as np\nsee([np.frombuffer(p) for p in paths])", None),
        ("import numpy as np\nsee([open(p).read() for p in paths])", None),
    ],
)
def test_one_way_to_load_is_enough(look: Look, source: str, many: str | None) -> None:
    file, (seen,) = look(source)
    found = file.tf.loading.gathered(seen)

    assert (None if found is None else file.source(found.files)) == many


@pytest.mark.parametrize(
    ("source", "many"),
    [
        ("see([parse(r.split(',')).reshape(64, 64) for r in rows])", "rows"),
        ("see([np.fromstring(r, sep=' ').reshape(64, 64) for r in rows])", "rows"),
        ("see([np.array(r).reshape(64, 64) for r in csv.reader(f)])", "csv.reader(f)"),
        ("see([cv2.resize(np.array(r.split(',')), (64, 64)) for r in rows])", "rows"),
        ("see([np.array(np.split(r, 2)).reshape(64, 64) for r in rows])", None),
        ("see([np.array(r.split(',')) for r in rows])", None),
    ],
)
def test_one_way_to_parse_is_enough(look: Look, source: str, many: str | None) -> None:
    plain = "import csv, cv2\nimport numpy as np\ndef parse(fields):\n    return np.array(fields)\n"
    file, (seen,) = look(plain + source)
    found = file.tf.parsing.gathered(seen)

    assert (None if found is None else file.source(found.files)) == many


def test_a_list_that_is_read_where_it_grows_is_not_looked_for_in_itself(look: Look) -> None:
    source = """
def train(shown):
    kept = []
    for number in range(len(paths)):
        kept.append(shown[number].copy())
        print(np.shape(kept[number]))
    see(kept)
    return np.array([cv2.imread(path) for path in paths])
"""
    assert loaded(look, source) == [None]


@pytest.mark.parametrize(
    ("folder", "files"),
    [
        ("os.path.dirname(names[0])", "os.listdir(folder)"),
        ("os.path.split(names[0])[0]", "os.listdir(folder)"),
        ("names[number]", None),
        ("os.path.dirname(names[number])", None),
        ("os.path.join('scans', names[number])", None),
    ],
)
def test_the_folder_of_the_first_file_has_the_others_too(
    look: Look, folder: str, files: str | None
) -> None:
    source = f"""
def load(names, number):
    folder = {folder}
    see([cv2.imread(os.path.join(folder, name)) for name in os.listdir(folder)])
"""
    assert loaded(look, source) == [files]
