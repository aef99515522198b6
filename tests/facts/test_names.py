"""Canonical names under every spelling of the imports."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File

STACKS = frozenset({"numpy.stack", "tensorflow.stack"})
Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import tensorflow as tf\nsee(tf.data.Dataset)", "tensorflow.data.Dataset"),
        ("import tensorflow\nsee(tensorflow.stack)", "tensorflow.stack"),
        ("import tensorflow.compat.v2 as tf\nsee(tf.stack)", "tensorflow.stack"),
        ("import tensorflow.compat.v1 as tf\nsee(tf.Session)", "tensorflow.Session"),
        ("from tensorflow._api.v2.image import resize\nsee(resize)", "tensorflow.image.resize"),
        ("from tensorflow import keras\nsee(keras.Model)", "keras.Model"),
        ("from tensorflow import keras as k\nsee(k.models.Model)", "keras.Model"),
        ("from tensorflow.keras import layers\nsee(layers.Dense)", "keras.layers.Dense"),
        ("from tensorflow.keras.models import Sequential\nsee(Sequential)", "keras.Sequential"),
        ("import keras\nsee(keras.layers.LSTM)", "keras.layers.LSTM"),
        ("import tf_keras\nsee(tf_keras.Model)", "keras.Model"),
        ("import tf_keras as keras\nsee(keras.Model)", "keras.Model"),
        ("from tensorflow.python.keras import backend as K\nsee(K.mean)", "keras.backend.mean"),
        ("import tensorflow as tf\nK = tf.keras.backend\nsee(K.mean)", "keras.backend.mean"),
        (
            "from tensorflow.data import Dataset\nsee(Dataset.range)",
            "tensorflow.data.Dataset.range",
        ),
        (
            "import tensorflow as tf\nAUTO = tf.data.experimental.AUTOTUNE\nsee(AUTO)",
            "tensorflow.data.AUTOTUNE",
        ),
        (
            "try:\n    import keras\nexcept ImportError:\n    from tensorflow import keras\n"
            "see(keras.Model)",
            "keras.Model",
        ),
        ("def f():\n    import tensorflow as tf\n    see(tf.stack)", "tensorflow.stack"),
        ("import os.path\nsee(os.path.join)", "os.path.join"),
        (
            "from tensorflow.keras.layers import *\n"
            "from tensorflow.keras.preprocessing.image import *\nsee(load_img)",
            "keras.utils.load_img",
        ),
        ("from keras.models import *\nsee(Sequential)", "keras.Sequential"),
    ],
)
def test_an_import_in_any_spelling_has_one_name(look: Look, source: str, name: str) -> None:
    file, seen = look(source)

    assert file.tf.names.qualified(seen[0]) == name
    assert file.tf.names.one_of(seen[0], frozenset({"numpy.stack", name})) == name
    assert not file.tf.names.is_any(seen[0], frozenset({"numpy.stack", f"other.{name}"}))
    assert file.tf.names.mentions(frozenset({"numpy.stack", name}))
    assert not file.tf.names.mentions(frozenset({"numpy.stack", f"other.{name}"}))


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(tf):\n    see(tf.stack)", id="a parameter called tf"),
        pytest.param("import tensorflow as tf\ntf = make()\nsee(tf.stack)", id="rebound"),
        pytest.param("from .tensorflow import stack\nsee(stack)", id="a relative import"),
        pytest.param("from keras.layers import *\nsee(load_img)", id="a star without it"),
        pytest.param("from .models import *\nsee(Sequential)", id="a relative star"),
        pytest.param(
            "from keras.models import *\ndef Model(): ...\nsee(Model)", id="defined, not starred"
        ),
        pytest.param("tf = tf\nsee(tf.stack)", id="an alias of itself"),
        pytest.param(
            "if a:\n    import numpy as np\nelse:\n    import cupy as np\nsee(np.stack)",
            id="two different imports",
        ),
        pytest.param("import tensorflow as tf\nsee(tf.keras.Model())", id="a call's result"),
    ],
)
def test_what_is_not_surely_one_import_has_no_name(look: Look, source: str) -> None:
    file, seen = look(source)

    assert file.tf.names.qualified(seen[0]) is None


@pytest.mark.parametrize(
    "source",
    [
        "import tensorflow as tf",
        "import tensorflow as tf\ntf.concat(stack)",
        "import tensorflow as tf\nself.stack.stack()",
        "from . import stack\nstack()",
        "stack = 'tensorflow.stack'",
    ],
)
def test_what_is_not_mentioned_is_not_called(look: Look, source: str) -> None:
    file, _ = look(source)

    assert not file.tf.names.mentions(STACKS)
    assert list(file.tf.names.calls(STACKS)) == []


def test_calls_of_several_names_come_in_the_order_of_the_source(look: Look) -> None:
    source = (
        "import numpy as np\nimport tensorflow as tf\nfrom tensorflow import stack as s\n"
        "np.stack(np.concatenate(s(a)), tf.stack)\ndef f(np):\n    np.stack(a)\n"
        "put = tf.stack\nput(b)"
    )
    file, _ = look(source)

    found = [(ast.unparse(call.func), name) for call, name in file.tf.names.calls(STACKS)]

    assert found == [
        ("np.stack", "numpy.stack"),
        ("s", "tensorflow.stack"),
        ("put", "tensorflow.stack"),
    ]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import numpy as np\ndef f():\n    see(np.stack)", "numpy.stack"),
        ("import numpy as np\ndef f(np):\n    see(np.stack)", None),
        ("import numpy as np\ndef f():\n    np = other()\nsee(np.stack)", "numpy.stack"),
        ("def f():\n    import numpy as np\nsee(np.stack)", None),
        ("def f():\n    import numpy as np\n    see(np.stack)", "numpy.stack"),
        ("class A:\n    import numpy as np\n    def f(self):\n        see(np.stack)", None),
    ],
)
def test_a_name_means_what_is_imported_where_that_is_seen(
    look: Look, source: str, name: str | None
) -> None:
    file, (seen,) = look(source)

    assert file.tf.names.qualified(seen) == name


@pytest.mark.parametrize(
    ("handler", "name"),
    [
        ("except ImportError:\n    np = None", "numpy.stack"),
        ("except ModuleNotFoundError as error:\n    other = np = None", "numpy.stack"),
        ("except (ImportError, AttributeError):\n    HAS = False\n    np = None", "numpy.stack"),
        ("except ImportError:\n    np = 0", None),
        ("except ValueError:\n    np = None", None),
        ("except ImportError:\n    pass\nelse:\n    np = None", None),
    ],
)
def test_a_name_without_its_module_does_not_count_against_the_import(
    look: Look, handler: str, name: str | None
) -> None:
    file, (seen,) = look(f"try:\n    import numpy as np\n{handler}\nsee(np.stack)")

    assert file.tf.names.qualified(seen) == name


def test_none_in_place_of_what_no_import_gives_counts(look: Look) -> None:
    file, _ = look("try:\n    import numpy\nexcept ImportError:\n    np = None\nsee(np)")

    assert len(file.tf.bindings.named("np")) == 1
    assert len(file.tf.bindings.named("numpy")) == 1
