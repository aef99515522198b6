"""The weights of ready-made models, and of models that are made with them."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint.facts.sizes.amounts import Amount

IMPORTS = """
import keras
from keras import layers
from keras.applications import MobileNet, ResNet50, vgg16
from keras.applications.vgg16 import VGG16
"""


def held(source: str) -> tuple[float | None, float | None]:
    """How many numbers the weights of `model` are, and how many of them are trained."""
    file = File("code.py", IMPORTS + dedent(source))
    calls = (each for each in ast.walk(file.tree) if isinstance(each, ast.Call))
    (fit,) = (each for each in calls if ast.unparse(each.func) == "model.fit")
    assert isinstance(fit.func, ast.Attribute)
    models = file.tf.models
    runs = models.runs(fit.func.value, None)
    found: list[Amount | None] = (
        [models.weights(runs), models.trained(runs)] if runs else [None] * 2
    )
    bytes_, trained = (None if each is None or each.value is None else each.value for each in found)
    return bytes_ and bytes_ / 4, trained and trained / 4


@pytest.mark.parametrize(
    ("source", "numbers", "trained"),
    [
        pytest.param("model = ResNet50()", 25_636_712, 25_636_712, id="as it is"),
        pytest.param(
            "model = VGG16(weights=None, classes=10, input_shape=(224, 224, 3))",
            134_301_514,
            134_301_514,
            id="another top",
        ),
        pytest.param("model = vgg16.VGG16(include_top=False)", 14_714_688, 14_714_688, id="no top"),
        pytest.param(
            "model = VGG16(include_top=False, weights=None, input_shape=(32, 32, 1))",
            None,
            None,
            id="pictures without colours have other weights",
        ),
        pytest.param("model = MobileNet(alpha=0.5)", None, None, id="a narrower one"),
        pytest.param("model = MobileNet((224, 224, 3), 0.5)", None, None, id="the same, by place"),
        pytest.param(
            """
            base = VGG16(weights="imagenet", include_top=False, input_shape=(150, 150, 3))
            base.trainable = False
            model = keras.Sequential([base, layers.Flatten(), layers.Dense(256), layers.Dense(1)])
            """,
            16_812_353,
            2_097_665,
            id="frozen, and layers behind it",
        ),
        pytest.param(
            """
            base = VGG16(include_top=False)
            model = keras.Sequential()
            model.add(base)
            model.add(layers.GlobalAveragePooling2D())
            model.add(layers.Dense(10))
            """,
            14_719_818,
            14_719_818,
            id="added, for pictures of any size",
        ),
        pytest.param(
            """
            base = VGG16(include_top=False, input_shape=(150, 150, 3))
            for layer in base.layers[:15]:
                layer.trainable = False
            outputs = layers.Dense(10)(layers.Flatten()(base.output))
            model = keras.Model(inputs=base.input, outputs=outputs)
            """,
            14_796_618,
            None,
            id="its output, and some of its layers frozen",
        ),
        pytest.param(
            """
            inputs = keras.Input((224, 224, 3))
            pooled = ResNet50(include_top=False, pooling="avg")(inputs)
            model = keras.Model(inputs, layers.Dense(10)(pooled))
            """,
            23_608_202,
            23_608_202,
            id="called like a layer",
        ),
        pytest.param(
            """
            model = keras.Sequential()
            model.add(layers.Dense(50, input_dim=2))
            model.add(layers.Dense(3))
            """,
            303,
            303,
            id="plain layers that are told how wide their input is",
        ),
    ],
)
def test_weights(source: str, numbers: int | None, trained: int | None) -> None:
    assert held(dedent(source) + "\nmodel.fit(x, y)\n") == (numbers, trained)


def test_activations_of_ready_made_models_are_not_known() -> None:
    file = File("code.py", IMPORTS + "model = ResNet50()\nmodel.fit(x, y)\n")
    call = next(each for each in ast.walk(file.tree) if isinstance(each, ast.Call))
    runs = file.tf.models.runs(call, None)

    assert file.tf.models.activations(runs, trains=True).value is None


def test_layers_are_added_to_the_model_that_a_name_then_stands_for() -> None:
    lines = """
    model = keras.Sequential()
    model.add(layers.Dense(1000, input_dim=1000))
    first = model

    model = keras.Sequential()
    model.add(layers.Dense(100, input_dim=64))
    model.add(layers.Dense(10))
    model.fit(x, y)
    """

    assert held(lines)[0] == 100 * 64 + 100 + 10 * 100 + 10
