"""Data sets that libraries have ready, and how large they are."""

from __future__ import annotations

_Part = tuple[tuple[int | None, ...], str]


def _images(train: int, test: int, *image: int) -> tuple[tuple[_Part, _Part], tuple[_Part, _Part]]:
    labels = () if len(image) == 2 else (1,)
    return (
        (((train, *image), "uint8"), ((train, *labels), "uint8")),
        (((test, *image), "uint8"), ((test, *labels), "uint8")),
    )


def _texts(train: int, test: int) -> tuple[tuple[_Part, _Part], tuple[_Part, _Part]]:
    """Lists of words' numbers, of any length."""
    return (
        (((train,), "object"), ((train,), "int64")),
        (((test,), "object"), ((test,), "int64")),
    )


KERAS_DATASETS = {
    "mnist": _images(60_000, 10_000, 28, 28),
    "fashion_mnist": _images(60_000, 10_000, 28, 28),
    "cifar10": _images(50_000, 10_000, 32, 32, 3),
    "cifar100": _images(50_000, 10_000, 32, 32, 3),
    "boston_housing": (
        (((404, 13), "float64"), ((404,), "float64")),
        (((102, 13), "float64"), ((102,), "float64")),
    ),
    "california_housing": (
        (((16_512, 8), "float32"), ((16_512,), "float32")),
        (((4_128, 8), "float32"), ((4_128,), "float32")),
    ),
    "imdb": _texts(25_000, 25_000),
    "reuters": _texts(8_982, 2_246),
}
"""Those of `keras.datasets`: (x_train, y_train), (x_test, y_test), each as (shape, dtype)."""

READ_DATA_SETS = frozenset(
    f"tensorflow.{module}.read_data_sets"
    for module in (
        "contrib.learn.datasets.mnist",
        "contrib.learn.python.learn.datasets.mnist",
        "examples.tutorials.mnist.input_data",
    )
)
MNIST_PARTS = {"train": 55_000, "validation": 5_000, "test": 10_000}
"""What TensorFlow 1 had ready as `mnist.train`, and how many `images` and `labels` it has."""

CATALOGUE: dict[str, tuple[dict[str, int], tuple[int, int, int]]] = {
    "cifar10": ({"train": 50_000, "test": 10_000}, (32, 32, 3)),
    "cifar100": ({"train": 50_000, "test": 10_000}, (32, 32, 3)),
    "fashion_mnist": ({"train": 60_000, "test": 10_000}, (28, 28, 1)),
    "kmnist": ({"train": 60_000, "test": 10_000}, (28, 28, 1)),
    "mnist": ({"train": 60_000, "test": 10_000}, (28, 28, 1)),
}
"""Small data sets of tensorflow_datasets: how many images their parts have, and of what size."""

SKLEARN_DATASETS = {
    f"sklearn.datasets.load_{name}": shape
    for name, shape in {
        "breast_cancer": (569, 30),
        "diabetes": (442, 10),
        "digits": (1797, 64),
        "iris": (150, 4),
        "linnerud": (20, 3),
        "wine": (178, 13),
    }.items()
}
"""What gives those of scikit-learn, and the shape of the data."""

_CLASSES = {
    "breast_cancer": 2,
    "cifar10": 10,
    "cifar100": 100,
    "digits": 10,
    "fashion_mnist": 10,
    "imdb": 2,
    "iris": 3,
    "mnist": 10,
    "reuters": 46,
    "wine": 3,
}
LABELS = {
    **{
        f"keras.datasets.{name}.load_data": (
            sum(part[0][0][0] or 0 for part in parts),
            _CLASSES[name],
        )
        for name, parts in KERAS_DATASETS.items()
        if name in _CLASSES
    },
    **{
        loads: (shape[0], _CLASSES[name])
        for loads, shape in SKLEARN_DATASETS.items()
        if (name := loads.rpartition("load_")[2]) in _CLASSES
    },
}
"""What gives those that have classes, how many labels there are in all of them, and classes."""
