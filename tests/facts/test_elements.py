"""What goes through pipelines, step by step."""

import ast
from math import inf
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.pipelines.chains import Chain
from tfmemlint.facts.pipelines.elements import Passage
from tfmemlint.facts.pipelines.held import Held, Several, Tensor, row

IMPORTS = """
import glob
import keras
import numpy as np
import tensorflow as tf
import tensorflow_datasets as tfds
from elsewhere import helper

(x_train, y_train), (x_test, y_test) = keras.datasets.cifar10.load_data()
D = tf.data.Dataset
"""


def chain(source: str) -> tuple[File, Chain]:
    """The one pipeline of a module."""
    file = File("code.py", IMPORTS + dedent(source))
    (found,) = file.tf.datasets.chains
    return file, found


def enters_last(source: str) -> Held:
    file, found = chain(source)
    return file.tf.elements.entering(found, len(found.steps) - 1)


def passage(source: str, first: int = 0) -> Passage:
    """What the steps before the last one make of an element."""
    file, found = chain(source)
    return file.tf.elements.passage(found, first, len(found.steps) - 1)


DECODED = Tensor(is_decoded=True)
LOADED = Several((("image", DECODED._replace(dtype="uint8", is_image=True)), (None, DECODED)))
PATH = Tensor("string", is_path=True)
IMAGE = Tensor("uint8", (32, 32, 3), is_view=True)
LABEL = Tensor("uint8", (1,))


@pytest.mark.parametrize(
    ("source", "element"),
    [
        ("D.list_files('*.png').batch(8)", PATH),
        ("D.from_tensor_slices(sorted(glob.glob('*.png'))).batch(8)", PATH),
        ("D.from_tensor_slices((x_train, y_train)).batch(8)", row((IMAGE, LABEL))),
        ("D.from_tensor_slices({'x': x_test}).batch(8)", Several((("x", IMAGE),))),
        ("D.from_tensor_slices(x_train[100:]).batch(8)", IMAGE),
        ("D.from_tensor_slices(np.load('x.npy')).batch(8)", Tensor()),
        ("D.range(9).batch(8)", Tensor("int64", ())),
        ("tf.data.TFRecordDataset('a').batch(8)", Tensor("string", ())),
        ("D.list_files('*').interleave(tf.data.TFRecordDataset).batch(8)", Tensor("string", ())),
        ("D.list_files('*').flat_map(lambda f: helper(f)).batch(8)", Tensor()),
        (
            "tfds.load('mnist', as_supervised=True)['train'].batch(8)",
            row((Tensor("uint8", (28, 28, 1), is_image=True), Tensor("int64", ()))),
        ),
        (
            "tfds.load('imagenet2012', split='train').batch(8)",
            LOADED,
        ),
        (
            "tfds.load('imagenet2012', split='train', as_supervised=True).batch(8)",
            row((DECODED, Tensor())),
        ),
        ("tfds.builder('a').as_dataset('train').batch(8)", LOADED),
        ("tfds.builder('a').as_dataset('train', as_supervised=more).batch(8)", Tensor()),
        (
            "D.zip((D.range(9), D.list_files('*'))).batch(8)",
            row((Tensor("int64", ()), PATH)),
        ),
        ("D.range(9).enumerate().batch(8)", row((Tensor("int64", ()), Tensor("int64", ())))),
        ("D.range(9).shuffle(8).repeat().filter(helper).batch(8)", Tensor("int64", ())),
        ("D.range(9).batch(8).prefetch(1)", Tensor("int64", (None,))),
        ("D.range(9).batch(8).unbatch().prefetch(1)", Tensor("int64", ())),
        ("D.range(9).map(lambda i: tf.zeros([i, 8])).batch(8)", Tensor("float32", (None, 8))),
    ],
)
def test_what_goes_into_the_last_step(source: str, element: Held) -> None:
    assert enters_last(source) == element


OPENS = "def opened(i):\n    return D.range(i, i + 9).map(lambda j: tf.zeros([8, 8]))\n"
TWO_KINDS = (
    "def opened(i):\n    return D.range(9) if i else D.range(9).map(lambda j: tf.zeros([8]))\n"
)
ITSELF = "def opened(i):\n    return D.range(9).interleave(opened)\n"


@pytest.mark.parametrize(
    ("made", "step", "element"),
    [
        (OPENS, "interleave(opened)", Tensor("float32", (8, 8))),
        (OPENS, "flat_map(opened)", Tensor("float32", (8, 8))),
        (OPENS, "interleave(lambda i: opened(i))", Tensor("float32", (8, 8))),
        (TWO_KINDS, "interleave(opened)", Tensor()),
        (ITSELF, "interleave(opened)", Tensor()),
    ],
)
def test_what_is_opened_for_each_element_gives_the_elements(
    made: str, step: str, element: Held
) -> None:
    assert enters_batch(f"{made}ds = D.range(4).{step}.batch(8)\n") == element


def test_pipelines_that_are_mixed_give_what_all_of_them_give() -> None:
    one, two = ("D.range(9).map(lambda i: tf.zeros([8]))", "D.range(9)")
    alike, different = (f"D.sample_from_datasets([{one}, {each}])" for each in (one, two))

    assert enters_batch(f"{alike}.batch(8)") == Tensor("float32", (8,))
    assert enters_batch(f"{different}.batch(8)") == Tensor()


def enters_batch(source: str) -> Held:
    """What goes into the last step, of several pipelines that of the one that has a batch."""
    file = File("code.py", IMPORTS + source)
    (found,) = (each for each in file.tf.datasets.chains if "batch" in each.methods)
    return file.tf.elements.entering(found, len(found.steps) - 1)


def test_what_functions_return_is_followed() -> None:
    paths = """
    def names(count):
        found = glob.glob('*.png')
        return len(found) if count else found
    def files(only_count=False):
        found = glob.glob('*.png')
        if only_count:
            return len(found)
        return found
    D.from_tensor_slices(files()).batch(8)
    """

    assert enters_last(paths) == PATH


def test_maps_in_a_row_are_taken_together() -> None:
    read = ".map(tf.io.read_file).map(lambda b: tf.io.decode_png(b, channels=3))"
    cropped = ".map(lambda x: x[:8, :8])"

    assert passage(f"D.list_files('*'){read}.shuffle(9)").growth == inf
    assert passage(f"D.list_files('*'){read}{cropped}.shuffle(9)").growth == inf
    assert passage(f"D.list_files('*'){read}{cropped}.shuffle(9)", first=1).growth < 2


def test_what_is_made_from_a_number_keeps_its_size() -> None:
    made = ".map(lambda i: tf.fill([8, 8, 3], tf.cast(i, tf.uint8)))"
    larger = ".map(lambda x: tf.image.resize(x, [16, 16]))"

    assert passage(f"D.range(9){made}{larger}.shuffle(9)").growth == 4 * 16 * 16 * 3 / 8
    assert passage(f"D.range(9){made}{larger}.shuffle(9)", first=1).growth == 16


def test_each_map_starts_from_what_the_one_before_made() -> None:
    maps = ".map(lambda x: tf.cast(x, tf.float32)).map(lambda x: x / 255.0)"

    assert passage(f"D.from_tensor_slices(x_train){maps}.shuffle(9)").growth == 4
    assert passage(f"D.from_tensor_slices(x_train){maps}.shuffle(9)", first=1).growth == 1


def test_slices_take_up_nothing_until_they_are_copied() -> None:
    def added(function: str, arrays: str = "(x_train, y_train)") -> int | None:
        return passage(f"D.from_tensor_slices({arrays}).map({function}).shuffle(9)").added

    floats = 4 * 32 * 32 * 3

    assert added("lambda x, y: (tf.cast(x, tf.float32), y)") == floats
    assert added("lambda x, y: (x, tf.cast(y, tf.float32))") == 4 - 1
    assert added("lambda x, y: (x, y)") == 0
    assert added("lambda x: (x, x)", "x_train") == 0
    assert added("lambda x: x / 2", "np.load('x.npy')") is None


def test_slices_of_arrays_take_up_nothing_themselves() -> None:
    def own(function: str) -> int | None:
        return passage(f"D.from_tensor_slices(x_train).map({function}).shuffle(9)").own

    assert own("lambda x: x") == 0
    assert own("lambda x: tf.cast(x, tf.float32)") == 32 * 32 * 3 * 4


def test_whether_steps_may_change_places_with_others() -> None:
    pure = passage("D.list_files('*').map(tf.io.read_file).repeat().shuffle(9)")
    drawn = passage("D.range(9).map(lambda i: i + tf.random.uniform([])).shuffle(9)")
    scaled = passage("D.from_tensor_slices(x_train).map(lambda x: x / 255).shuffle(9)")

    assert (pure.is_pure, pure.is_exact) == (True, False)
    assert (drawn.is_pure, drawn.is_exact) == (False, False)
    assert (scaled.is_pure, scaled.is_exact) == (True, True)


def test_steps_without_functions_change_nothing() -> None:
    file, found = chain("D.range(9).shuffle(3).repeat().prefetch(1)")

    assert [each.method for each in found.steps] == ["shuffle", "repeat", "prefetch"]
    assert file.tf.elements.passage(found, 0, 3) == Passage(
        Tensor("int64", ()), 1.0, 0, 8, True, True, False
    )


def test_a_map_without_a_function_is_not_known() -> None:
    file, found = chain("D.range(9).map(*given).batch(3)")
    call = next(each for each in file.tf.tree.all(ast.Call) if ast.unparse(each).endswith("given)"))

    assert found.steps[0].call is call
    assert file.tf.elements.passage(found, 0, 1) == Passage(
        Tensor(), 0.0, None, None, False, False, False
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("D.list_files(p).shuffle(9).batch(3)", True),
        ("D.from_tensor_slices(sorted(glob.glob(p))).batch(3)", True),
        ("D.from_tensor_slices([p for p in glob.glob(d)]).take(3)", True),
        ("D.from_tensor_slices((glob.glob(p), y_train)).batch(3)", False),
        ("D.from_tensor_slices(x_train).batch(3)", False),
        ("D.list_files(p).map(tf.io.read_file)", False),
        ("D.list_files(p).map(helper)", False),
        ("D.from_tensor_slices(names).batch(3)", False),
    ],
)
def test_whether_elements_are_the_names_of_files(source: str, expected: bool) -> None:
    file, found = chain(source)

    assert file.tf.elements.are_names(found) is expected


def test_maps_are_found_backwards_until_another_step() -> None:
    file, found = chain(
        "D.range(9).map(helper).filter(helper).map(helper).repeat().map(helper).shuffle(9)"
    )

    def places(passing: frozenset[str]) -> list[int]:
        return [place for place, _ in file.tf.elements.passages(found, 5, passing)]

    assert places(frozenset({"repeat"})) == [4, 2]
    assert places(frozenset({"repeat", "filter"})) == [4, 2, 0]
    assert places(frozenset()) == [4]
