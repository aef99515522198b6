"""Programs of a few lines, as people write them to show a pattern: found, and said to be small."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfmemlint.cli import main

LOADS = """\
import tensorflow as tf


def load(paths, side):
    pictures = []
    for path in paths:
        picture = tf.image.decode_png(tf.io.read_file(path), channels=3)
        pictures.append(tf.image.resize(picture, (side, side)))
    return tf.stack(pictures)  # TFM604


names = ["cat.png", "dog.png", "owl.png"]
pictures = load(names, 64)
"""
STEPS = """\
import tensorflow as tf


class Line(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf.keras.layers.Dense(10)

    def call(self, inputs):
        outputs = self.out(inputs)
        return outputs


line = Line()
adam = tf.keras.optimizers.Adam()
error = tf.keras.losses.MeanSquaredError()


@tf.function
def learn(x, y):
    with tf.GradientTape() as tape:
        loss = error(y, line(x))
    slopes = tape.gradient(loss, line.trainable_variables)
    adam.apply_gradients(zip(slopes, line.trainable_variables))
    return loss


features = tf.random.normal((120, 40))
targets = tf.random.normal((120, 10))

for step in range(500):
    loss = learn(features, targets)  # TFM306
"""
SHUFFLES = """\
import tensorflow as tf

rows = tf.data.Dataset.from_tensor_slices(tf.random.normal((100, 8)))
for batch in rows.batch(10).shuffle(50):  # TFM202
    print(batch.shape)
"""
CONSTANTS = """\
import numpy as np
import tensorflow as tf

table = np.random.rand(64, 16)


@tf.function
def look_up(ids):
    return tf.gather(table, ids)  # TFM105


print(look_up(tf.constant([1, 2])))
"""
GATHERS = """\
import tensorflow as tf

images = tf.data.Dataset.range(64).map(lambda i: tf.zeros([16, 16]))
everything = list(images.batch(8))  # TFM214
print(everything[0].shape, len(everything))
"""
NEWSWIRES = """\
import numpy as np
from tensorflow import keras

(x, y), (x_test, y_test) = keras.datasets.reuters.load_data()
kinds = keras.utils.to_categorical(np.concatenate((y, y_test)))  # TFM503
model = keras.Sequential(
    [
        keras.layers.Embedding(30_000, 8),
        keras.layers.LSTM(20, return_sequences=False),
        keras.layers.Dense(46, activation="softmax"),
    ]
)
model.compile("adam", "categorical_crossentropy")
model.fit(keras.utils.pad_sequences(np.concatenate((x, x_test))), kinds)
"""
MARKED = """\
import numpy as np
from tensorflow import keras

(x, y), (x_test, y_test) = keras.datasets.reuters.load_data()


def marked(kinds, count=46):
    rows = np.zeros((len(kinds), count))  # TFM503
    for i, kind in enumerate(kinds):
        rows[i, kind] = 1
    return rows


model = keras.Sequential([keras.layers.Dense(46, activation="softmax")])
model.compile("adam", "categorical_crossentropy")
rows = marked(y)
more = marked(y_test)
model.fit(np.load("x.npy"), rows)
model.evaluate(np.load("x_test.npy"), more)
"""


@pytest.mark.parametrize("program", [LOADS, STEPS, SHUFFLES, CONSTANTS, GATHERS, NEWSWIRES, MARKED])
def test_the_pattern_is_found_and_hidden_for_its_size(
    program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "toy.py"
    path.write_text(program)
    row, line = next(
        (row, line) for row, line in enumerate(program.splitlines(), 1) if "# TFM" in line
    )
    code = line.rpartition("# ")[2]
    options = ("check", "--isolated", "--select", code, "--output-format", "json-report")

    assert main([*options, "--min-bytes", "0", str(path)]) == 1
    [found] = json.loads(capsys.readouterr().out)["findings"]
    assert (found["code"], found["location"]["row"]) == (code, row)
    assert 0 < found["cost"]["at_most"] < 5 << 20
    assert main([*options, str(path)]) == 0
    summary = json.loads(capsys.readouterr().out)["summary"]
    assert (summary["findings"], summary["hidden_as_small"]) == (0, 1)


def test_what_is_made_up_is_said_to_stand_in(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "toy.py"
    path.write_text(STEPS)

    main(["check", "--isolated", "--select", "TFM306", "--min-bytes", "0", str(path)])

    assert "240 B: 28 KB here; grows with `features`; " in capsys.readouterr().out
