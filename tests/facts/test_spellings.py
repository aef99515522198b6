"""One name for each thing, however code spells it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tfmemlint
import tfmemlint_rules
from tfmemlint import File
from tfmemlint.facts.library.spellings import canonical

NAME = re.compile(r'"(keras(?:\.\w+)+)"')
INPUT = """\
i = Input((30,))
o = layers.Dense(1000)(i)
model = Model(inputs=i, outputs=o)
"""


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("tensorflow.keras.layers.Input", "keras.Input"),
        ("keras.engine.topology.Layer", "keras.layers.Layer"),
        ("keras.engine.Model", "keras.Model"),
        ("keras.layers.core.Dense", "keras.layers.Dense"),
        ("keras.layers.core", "keras.layers.core"),
        ("keras.layers.merge.concatenate", "keras.layers.concatenate"),
        ("keras.layers.convolutional.Conv2D.build", "keras.layers.Conv2D.build"),
        ("keras.utils.np_utils.to_categorical", "keras.utils.to_categorical"),
        ("tensorflow.keras.preprocessing.sequence.pad_sequences", "keras.utils.pad_sequences"),
        ("tensorflow.compat.v1.optimizers.Adam", "keras.optimizers.Adam"),
        ("tensorflow.image.decode_jpeg", "tensorflow.io.decode_jpeg"),
        ("keras.datasets.mnist.load_data", "keras.datasets.mnist.load_data"),
        ("tensorflow.losses.sparse_softmax_cross_entropy",) * 2,
    ],
)
def test_what_stands_in_several_places_has_one_name(spelling: str, name: str) -> None:
    assert canonical(spelling) == name
    assert canonical(name) == name


@pytest.mark.parametrize(
    "imports",
    [
        "from tensorflow.keras import Input, Model, layers",
        "from tensorflow.keras.layers import Input\nfrom keras import Model, layers",
        "from keras.engine.input_layer import Input\nfrom keras.models import Model\n"
        "from keras.engine import topology\nimport keras.layers as layers",
        "import keras.layers.core as layers\nfrom keras.engine import Input, Model",
    ],
)
def test_a_model_is_as_large_wherever_its_parts_are_imported_from(imports: str) -> None:
    file = File("code.py", f"{imports}\n{INPUT}")
    *_, (model, _) = file.tf.names.calls(frozenset({"keras.Model"}))
    weights = file.tf.models.weights(file.tf.models.runs(model, None) or [])

    assert weights is not None
    assert weights.value == (30 * 1000 + 1000) * 4


def test_tables_know_things_by_that_name() -> None:
    folders = (Path(tfmemlint.__file__).parent / "facts", Path(tfmemlint_rules.__file__).parent)
    paths = [path for folder in folders for path in folder.rglob("*.py")]
    named = {
        name
        for path in paths
        if path.stem != "spellings"
        for name in NAME.findall(path.read_text(encoding="utf-8"))
    }

    assert len(named) > 100
    assert {name for name in named if canonical(name) != name} == set()
