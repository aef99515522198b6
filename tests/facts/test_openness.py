"""Whether what stands in a file is all that is done with what it names."""

from __future__ import annotations

import builtins
import importlib

import pytest

from tfmemlint import File
from tfmemlint.facts.library.open_words import STARRED, STARS


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nfrom tensorflow.keras.layers import *\nx = np.zeros(3)",
        '"""Text."""\nfrom sklearn import split\nfrom tensorflow.keras.models import *',
        "from tensorflow.keras.layers import add\nfrom tensorflow.keras.layers import *",
        "from tensorflow.keras.applications.vgg16 import *",
        "import tensorflow as tf\ntf.config.experimental.set_visible_devices([], 'GPU')",
        "from tensorflow.keras import backend as K\ny = K.clip(K.batch_flatten(1), 0, 1)",
    ],
)
def test_what_libraries_bring_and_do_is_known(source: str) -> None:
    assert File("a.py", source).tf.openness.why is None


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("from tensorflow import *", "import *"),
        ("from keras.layers import *", "import *"),
        ("from .layers import *", "import *"),
        ("from tensorflow.keras.layers_of_mine import *", "import *"),
        ("from mine import add\nfrom tensorflow.keras.layers import *", "import *"),
        ("def add(x): return x\nfrom tensorflow.keras.layers import *", "import *"),
        (
            "from tensorflow.keras import backend as K\nK.set_floatx('float16')",
            "keras.backend.set_floatx",
        ),
    ],
)
def test_what_may_stand_for_something_else_is_not(source: str, why: str) -> None:
    assert File("a.py", source).tf.openness.why == why


@pytest.mark.tensorflow
@pytest.mark.parametrize("module", [each for each in STARS if each[-2] != "g"])
def test_keras_has_no_other_public_names_and_no_builtins(module: str) -> None:
    public = importlib.import_module(module.removeprefix("tensorflow.").rstrip("."))
    names = {each for each in vars(public) if not each.startswith("_")}
    modules = {each for each in names if type(getattr(public, each)).__name__ == "module"}

    assert not {each for each in names - modules if each[0].islower()} - STARRED
    assert not names & vars(builtins).keys()
