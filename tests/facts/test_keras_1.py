"""Which code is written for Keras 1."""

import pytest

from tfmemlint import File

IMPORTS = "import keras\nfrom keras.layers import Convolution2D\nmodel = keras.Sequential()\n"


@pytest.mark.parametrize(
    "code",
    [
        "model.fit(x, y, nb_epoch=10)",
        "model.fit_generator(batches, samples_per_epoch=2000, epochs=2)",
        "model.add(Convolution2D(32, 3, 3, border_mode='same'))",
        "model.add(Convolution2D(32, 3, 3, init='he_normal', subsample=(2, 2)))",
        "both = keras.Model(input=x, output=y)",
        "from keras.models import Model\nboth = Model([x], output=y)",
    ],
)
def test_arguments_that_only_keras_1_takes_say_so(code: str) -> None:
    assert File("code.py", IMPORTS + code).tf.is_for_keras_1


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("model.fit(x, y, epochs=nb_epoch)", id="a variable of that name"),
        pytest.param("def train(nb_epoch): ...\ntrain(nb_epoch=9)", id="a function of the module"),
        pytest.param("parser.set_defaults(nb_epoch=9)", id="another method"),
        pytest.param(
            "class Own:\n    def fit(self, x, nb_epoch): ...\nOwn().fit(x, nb_epoch=9)",
            id="a method of the module",
        ),
        pytest.param("model.add(Convolution2D(32, 3, padding='same'))", id="what it is called now"),
        pytest.param("both = keras.Model(inputs=x, outputs=y)", id="what it is called now"),
        pytest.param("class Model: ...\nModel(input=x)", id="a class of the module"),
        pytest.param("curve.fit(x, init=y)", id="another fit"),
    ],
)
def test_other_arguments_do_not(code: str) -> None:
    assert not File("code.py", IMPORTS + code).tf.is_for_keras_1


@pytest.mark.parametrize(
    "layers",
    [
        "Convolution2D(32, 4, 4, input_shape=(27, 27, 200), border_mode='same')",
        "Conv2D(32, (4, 4), padding='same', input_shape=(27, 27, 200))",
    ],
)
def test_the_sides_of_a_kernel_may_be_told_one_by_one(layers: str) -> None:
    code = f"from keras.layers import Conv2D, Dense, Flatten, MaxPooling2D\n{IMPORTS}"
    for each in (layers, "MaxPooling2D()", "Flatten()", "Dense(2)"):
        code += f"model.add({each})\n"
    file = File("code.py", code)
    made = next(call for call, _ in file.tf.names.calls(frozenset({"keras.Sequential"})))
    runs = file.tf.models.runs(made, None)

    assert [each.weights for each in runs or ()] == [32 * 16 * 200 + 32, 0, 0, 2 * 32 * 13**2 + 2]
