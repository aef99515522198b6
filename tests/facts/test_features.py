"""What records are parsed into, by the descriptions of their features."""

from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.pipelines.held import Held, Several, Tensor, row

RECORDS = """
import tensorflow as tf
records = tf.data.TFRecordDataset("images.tfrecord")
"""
NUMBER = Tensor("int64", ())
WIDE = Tensor("float32", (1000,))
TEXT = Tensor("string", ())


def parts(source: str) -> Held:
    """What comes to the last step of the one pipeline of a module."""
    file = File("code.py", RECORDS + dedent(source))
    (chain,) = file.tf.datasets.chains
    return file.tf.elements.entering(chain, len(chain.steps) - 1)


@pytest.mark.parametrize(
    ("source", "element"),
    [
        pytest.param(
            """
            records.map(lambda r: tf.io.parse_single_example(
                r, {"x": tf.io.FixedLenFeature([1000], tf.float32)})["x"]).batch(8)
            """,
            WIDE,
            id="written there",
        ),
        pytest.param(
            """
            FEATURES = {"x": tf.io.FixedLenFeature([1000], tf.float32)}
            FEATURES["y"] = tf.io.FixedLenFeature([], tf.int64)
            def parse(record):
                parsed = tf.io.parse_single_example(record, FEATURES)
                return parsed["x"], parsed["y"]
            records.map(parse).batch(8)
            """,
            row((WIDE, NUMBER)),
            id="a constant of the module, and what is put into it",
        ),
        pytest.param(
            """
            class Reader:
                def __init__(self, size):
                    self.features = described(size)
                def parse(self, record):
                    parsed = tf.io.parse_single_example(record, self.features)
                    label = parsed.pop("y")
                    return parsed, label
                def read(self):
                    return records.map(self.parse).batch(8)
            def described(size):
                features = {"x": tf.io.FixedLenFeature([size], tf.float32)}
                features["y"] = tf.io.FixedLenFeature([], tf.int64)
                return features
            Reader(1000).read()
            """,
            row((Several((("x", WIDE),)), NUMBER)),
            id="an attribute that a helper makes",
        ),
        pytest.param(
            """
            IMAGE = "image/raw"
            def parse(record, features={IMAGE: tf.io.FixedLenFeature([], tf.string)}):
                example = tf.io.parse_single_example(record, features)
                return tf.reshape(tf.io.decode_raw(example[IMAGE], tf.uint8), [28, 28, 1])
            records.map(parse).batch(8)
            """,
            Tensor("uint8", (28, 28, 1), is_packed=True),
            id="raw bytes under a key that has a name",
        ),
        pytest.param(
            """
            FEATURES = {"x": tf.io.FixedLenFeature([1000], tf.float32)}
            def parse(batch):
                return tf.io.parse_example(batch, FEATURES)["x"]
            records.batch(8).map(parse).prefetch(1)
            """,
            Tensor("float32", (None, 1000)),
            id="a batch at a time",
        ),
        pytest.param(
            """
            COMMON = {"y": tf.io.FixedLenFeature([], tf.int64)}
            def parse(record):
                features = {"t": tf.io.FixedLenFeature((), tf.string), **COMMON}
                features.update({"x": tf.io.FixedLenFeature([1000], tf.float32)})
                parsed = tf.io.parse_single_example(record, features)
                return parsed["t"], parsed["x"], parsed["y"]
            records.map(parse).batch(8)
            """,
            row((TEXT, WIDE, NUMBER)),
            id="put together",
        ),
        pytest.param(
            """
            NAMES = ["a", "b"]
            FEATURES = {name: tf.io.FixedLenFeature([1000], tf.float32) for name in NAMES}
            records.map(lambda r: tf.io.parse_single_example(r, FEATURES)["a"]).batch(8)
            """,
            WIDE,
            id="alike for all names",
        ),
        pytest.param(
            """
            def parse(record):
                context, sequence = tf.io.parse_single_sequence_example(
                    record,
                    context_features={"y": tf.io.FixedLenFeature([], tf.int64)},
                    sequence_features={"x": tf.io.FixedLenSequenceFeature([1000], tf.float32)},
                )
                return sequence["x"], context["y"]
            records.map(parse).batch(8)
            """,
            row((Tensor("float32"), NUMBER)),
            id="sequences have any length",
        ),
        pytest.param(
            """
            def parse(record):
                parsed = tf.io.parse_single_example(record, {"x": tf.io.VarLenFeature(tf.float32)})
                x = tf.sparse.to_dense(parsed["x"])
                return x, tf.ensure_shape(x, [1000]), tf.reshape(x, [-1, 4])
            records.map(parse).batch(8)
            """,
            row((Tensor("float32"), WIDE, Tensor("float32"))),
            id="of any length, unless it is told",
        ),
        pytest.param(
            """
            def parse(record):
                image = tf.io.decode_raw(tf.io.parse_single_example(
                    record, {"x": tf.io.FixedLenFeature([], tf.string)})["x"], tf.float32)
                image.set_shape([1000])
                return image
            records.map(parse).batch(8)
            """,
            WIDE._replace(is_packed=True),
            id="told by `set_shape`",
        ),
        pytest.param(
            """
            from elsewhere import FEATURES
            records.map(lambda r: tf.io.parse_single_example(r, FEATURES)["x"]).batch(8)
            """,
            Tensor(),
            id="out of sight",
        ),
        pytest.param(
            """
            FEATURES = {"x": tf.io.FixedLenFeature([1000], tf.float32)}
            FEATURES["y" if records else "z"] = tf.io.FixedLenFeature([], tf.int64)
            records.map(lambda r: tf.io.parse_single_example(r, FEATURES)["y"]).batch(8)
            """,
            NUMBER,
            id="put under a key that is not known",
        ),
        pytest.param(
            """
            def parse(record, wide):
                features = {"x": tf.io.FixedLenFeature([1000 if wide else 10], tf.float32)}
                return tf.io.parse_single_example(record, features)["x"]
            records.map(lambda r: parse(r, given)).batch(8)
            """,
            Tensor("float32", (None,)),
            id="of a size that is not known",
        ),
        pytest.param(
            "tf.data.Dataset.load('kept').map(lambda x: x).batch(8)",
            Tensor(),
            id="no records, but what was saved",
        ),
    ],
)
def test_parts(source: str, element: Held) -> None:
    assert parts(source) == element
