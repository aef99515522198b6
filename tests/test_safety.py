"""Which fixes are safe, where that hangs on what the rest of the program does."""

from __future__ import annotations

import pytest

from tfmemlint import Applicability, File, registry

RULES = registry.load()
SAFE, UNSAFE = Applicability.SAFE, Applicability.UNSAFE

START = """\
import numpy as np
import tensorflow as tf

def image(i):
    return tf.fill([64, 64, 3], tf.cast(i, tf.float32))

images = np.zeros((1000, 64), np.float32)
"""
REBUILT = """
for epoch in range(9):
    {before}
    train = tf.data.Dataset.from_tensor_slices(images).batch(8)
    for batch in train:
        print(batch)
"""
REMADE = """
for step in range(99):
    change()
    @tf.function
    def scaled(value):
        return value * {factor}
    print(scaled(tf.constant(1.0)))
"""
TRAINED = """
scale = tf.Variable(1.0)
dataset = {dataset}
for batch in dataset:
    with tf.GradientTape() as tape:
        loss = model(batch)
    gradients = tape.gradient(loss, model.trainable_variables)
    scale.assign_add(1.0)
"""


def applicability(code: str, source: str) -> Applicability | None:
    (found,) = RULES[code].check(File("code.py", START + source))
    return found.fix.applicability if found.fix else None


@pytest.mark.parametrize(
    ("above", "before", "expected"),
    [
        ("", "pass", SAFE),
        ("print(images.mean())", "pass", SAFE),
        ("rows = images.reshape(-1)", "rows += 1", UNSAFE),
        ("register(images)", "refresh()", UNSAFE),
    ],
)
def test_a_pipeline_of_an_array_moves_safely_if_nothing_changes_it(
    above: str, before: str, expected: Applicability
) -> None:
    assert applicability("TFM217", above + REBUILT.format(before=before)) is expected


@pytest.mark.parametrize(
    ("above", "pipeline", "expected"),
    [
        ("", "from_tensor_slices(images).map(lambda x: x * 2).batch(8)", SAFE),
        ("def twice(x):\n    return x * 2", "from_tensor_slices(images).map(twice)", SAFE),
        ("rate = 2.0", "from_tensor_slices(images).map(lambda x: x * rate)", SAFE),
        ("train = None", "from_tensor_slices(images).batch(8)", UNSAFE),
        ("rate = {'now': 2}", "from_tensor_slices(images).map(lambda x: x * rate['now'])", UNSAFE),
        (
            "rate = {'now': 2}\nchange(rate)",
            "from_tensor_slices(images).map(lambda x: x * rate['now'])",
            UNSAFE,
        ),
        (
            "rate = 2.0\ndef lower():\n    global rate\n    rate = 1.0",
            "from_tensor_slices(images).map(lambda x: x * rate)",
            UNSAFE,
        ),
    ],
)
def test_a_pipeline_that_maps_moves_safely_if_what_it_reads_stays(
    above: str, pipeline: str, expected: Applicability
) -> None:
    source = REBUILT.format(before="pass").replace("from_tensor_slices(images).batch(8)", pipeline)

    assert applicability("TFM217", f"{above}\n{source}") is expected


def test_records_may_be_written_again_between_rounds() -> None:
    source = REBUILT.format(before="rewrite('a')").replace(
        "Dataset.from_tensor_slices(images).batch(8)", "TFRecordDataset(['a']).cache()"
    )

    assert applicability("TFM217", source) is UNSAFE


@pytest.mark.parametrize(
    ("above", "factor", "expected"),
    [
        ("", "2.0", SAFE),
        ("RATE = 0.5", "RATE", SAFE),
        ("weights = tf.Variable(1.0)", "weights", SAFE),
        ("def half(value):\n    return value / 2", "half(value)", SAFE),
        ("rates = [1.0]\ndef change():\n    rates.append(2.0)", "rates[-1]", UNSAFE),
        ("def change():\n    images[0] = 1", "images", UNSAFE),
        ("rate = 1.0\ndef change():\n    global rate\n    rate += 1", "rate", UNSAFE),
        ("settings = elsewhere()", "settings.rate", UNSAFE),
        ("class Rates:\n    now = 1.0\ndef change():\n    Rates.now += 1", "Rates.now", UNSAFE),
        ("layer = tf.keras.layers.Dense(2)", "layer(value)", SAFE),
        (
            "layer = tf.keras.layers.Dense(2)\ndef freeze(layers):\n    for each in layers:\n"
            "        each.trainable = False\ndef change():\n    freeze([layer])",
            "layer(value)",
            UNSAFE,
        ),
        ("layer = tf.keras.layers.Dense(2)\nfrom helpers import change", "layer(value)", UNSAFE),
        ("noise = tf.random_normal_initializer()", "noise([1])", UNSAFE),
    ],
)
def test_a_function_moves_safely_if_nothing_it_reads_changes(
    above: str, factor: str, expected: Applicability
) -> None:
    if "change" not in above:
        above += "\ndef change():\n    pass"
    assert applicability("TFM102", above + REMADE.format(factor=factor)) is expected


@pytest.mark.parametrize(
    ("dataset", "expected"),
    [
        ("tf.data.Dataset.from_tensor_slices(others).map(tf.signal.fft).batch(8)", SAFE),
        ("tf.data.Dataset.range(5000).map(image).map(tf.image.random_hue).batch(8)", UNSAFE),
        ("tf.data.TFRecordDataset('a').map(tf.io.decode_jpeg).batch(8)", UNSAFE),
        ("tf.data.TFRecordDataset('a').map(tf.io.decode_png).batch(8)", UNSAFE),
        ("tf.data.TFRecordDataset('a').map(lambda r: tf.io.decode_png(r) * scale)", UNSAFE),
        ("tf.data.TFRecordDataset('a').map(elsewhere).batch(8)", UNSAFE),
        ("tf.data.Dataset.from_generator(rows, output_types=tf.float32).batch(8)", UNSAFE),
    ],
)
def test_elements_are_made_ahead_safely_if_they_stay_the_same(
    dataset: str, expected: Applicability
) -> None:
    assert applicability("TFM223", TRAINED.format(dataset=dataset)) is expected
