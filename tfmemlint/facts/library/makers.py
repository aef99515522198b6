"""What functions of NumPy, TensorFlow, Keras and the file system give back: tables, no logic."""

from __future__ import annotations

import ast

from tfmemlint.light_typing import NamedTuple


class Filled(NamedTuple):
    """A function that makes an array of a given shape: where it takes the shape and the dtype."""

    place: int
    keyword: str
    dtype: str | None
    """That of the result where none is given; None where it is that of what it is filled with."""
    dtype_place: int | None = None
    filler: tuple[int, str] = (1, "value")


def argument(call: ast.Call, place: int | None, keyword: str) -> ast.expr | None:
    """An argument by keyword or place; None where it is left out or hidden behind stars."""
    for each in call.keywords:
        if each.arg == keyword:
            return each.value
    if place is None or place >= len(call.args):
        return None
    if any(isinstance(each, ast.Starred) for each in call.args[: place + 1]):
        return None
    return call.args[place]


def given_to(call: ast.Call) -> list[ast.expr]:
    """Everything that a call is given, by place or by name."""
    return [*call.args, *(each.value for each in call.keywords)]


DTYPE_BYTES = {
    "bool": 1,
    "bool_": 1,
    "int8": 1,
    "uint8": 1,
    "int16": 2,
    "uint16": 2,
    "float16": 2,
    "half": 2,
    "bfloat16": 2,
    "int32": 4,
    "uint32": 4,
    "float32": 4,
    "single": 4,
    "int64": 8,
    "uint64": 8,
    "float64": 8,
    "double": 8,
    "complex64": 8,
    "complex128": 16,
}

FILLED = {
    "numpy.empty": Filled(0, "shape", "float64", 1),
    "numpy.full": Filled(0, "shape", None, 2, (1, "fill_value")),
    "numpy.ones": Filled(0, "shape", "float64", 1),
    "numpy.zeros": Filled(0, "shape", "float64", 1),
    "numpy.random.binomial": Filled(2, "size", "int64"),
    "numpy.random.choice": Filled(1, "size", None, filler=(0, "a")),
    "numpy.random.normal": Filled(2, "size", "float64"),
    "numpy.random.rand": Filled(0, "size", "float64"),
    "numpy.random.randint": Filled(2, "size", "int64", 3),
    "numpy.random.randn": Filled(0, "size", "float64"),
    "numpy.random.random": Filled(0, "size", "float64"),
    "numpy.random.random_sample": Filled(0, "size", "float64"),
    "numpy.random.standard_normal": Filled(0, "size", "float64"),
    "numpy.random.uniform": Filled(2, "size", "float64"),
    "tensorflow.fill": Filled(0, "dims", None),
    "tensorflow.ones": Filled(0, "shape", "float32", 1),
    "tensorflow.random.normal": Filled(0, "shape", "float32", 3),
    "tensorflow.random.stateless_normal": Filled(0, "shape", "float32", 4),
    "tensorflow.random.stateless_uniform": Filled(0, "shape", "float32", 4),
    "tensorflow.random.truncated_normal": Filled(0, "shape", "float32", 3),
    "tensorflow.random.uniform": Filled(0, "shape", "float32", 3),
    "tensorflow.zeros": Filled(0, "shape", "float32", 1),
    "keras.random.normal": Filled(0, "shape", "float32", 3),
    "keras.random.uniform": Filled(0, "shape", "float32", 3),
    "keras.ops.ones": Filled(0, "shape", "float32", 1),
    "keras.ops.zeros": Filled(0, "shape", "float32", 1),
}
DIMENSIONS_AS_ARGUMENTS = frozenset({"numpy.random.rand", "numpy.random.randn", "rand", "randn"})
RANDOM_GENERATORS = frozenset({"numpy.random.RandomState", "numpy.random.default_rng"})
GENERATED = {
    "choice": Filled(1, "size", None, filler=(0, "a")),
    "integers": Filled(2, "size", "int64", 3),
    "normal": Filled(2, "size", "float64"),
    "rand": Filled(0, "size", "float64"),
    "randint": Filled(2, "size", "int64", 3),
    "randn": Filled(0, "size", "float64"),
    "random": Filled(0, "size", "float64", 1),
    "random_sample": Filled(0, "size", "float64"),
    "standard_normal": Filled(0, "size", "float64", 1),
    "uniform": Filled(2, "size", "float64"),
}
"""What the methods of NumPy's random generators make."""
COUNTED = {
    "numpy.arange": ("int64", "float64"),
    "tensorflow.range": ("int32", "float32"),
    "keras.ops.arange": ("int32", "float32"),
}
"""Functions that count from one number to another, and their dtypes for integers and floats."""
SPACED = {"numpy.linspace": "float64", "tensorflow.linspace": None, "keras.ops.linspace": None}
"""Functions that space so many numbers evenly, and their dtypes."""

LOADS_WHOLE = frozenset(
    {
        "joblib.load",
        "numpy.fromfile",
        "numpy.genfromtxt",
        "numpy.load",
        "numpy.loadtxt",
        "numpy.memmap",
    }
)
FRAMES = frozenset(
    {
        "pandas.DataFrame",
        "pandas.read_csv",
        "pandas.read_excel",
        "pandas.read_feather",
        "pandas.read_hdf",
        "pandas.read_parquet",
        "pandas.read_pickle",
    }
)
FRAME_METHODS = frozenset(
    {"astype", "copy", "drop", "dropna", "fillna", "pop", "reset_index", "sample", "sort_values"}
)
ARRAY_METHODS = frozenset(
    {
        "astype",
        "clip",
        "copy",
        "flatten",
        "numpy",
        "ravel",
        "reshape",
        "squeeze",
        "swapaxes",
        "transpose",
    }
)
GIVES_FLOATS = frozenset(
    f"numpy.{name}"
    for name in ("cos", "cosh", "exp", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh")
) | {"keras.utils.normalize", "numpy.sqrt", "numpy.tan", "numpy.tanh"}
"""Functions that keep the dtype of floats, and make some float of anything else."""
SHAPE_OF = frozenset({"numpy.shape", "tensorflow.shape", "keras.ops.shape"})
SCALERS = "sklearn.preprocessing."
SCALES = frozenset({"fit_transform", "transform"})
SPLITS_ARGUMENTS = frozenset({"sklearn.model_selection.train_test_split"})

KEEPS_DATA = dict.fromkeys(GIVES_FLOATS, "x") | {
    "numpy.abs": "x",
    "numpy.array": "object",
    "numpy.asarray": "a",
    "numpy.ascontiguousarray": "a",
    "numpy.clip": "a",
    "numpy.expand_dims": "a",
    "numpy.float32": "x",
    "numpy.moveaxis": "a",
    "numpy.ravel": "a",
    "numpy.repeat": "a",
    "numpy.reshape": "a",
    "numpy.squeeze": "a",
    "numpy.tile": "A",
    "numpy.transpose": "a",
    "tensorflow.cast": "x",
    "tensorflow.constant": "value",
    "tensorflow.convert_to_tensor": "value",
    "tensorflow.expand_dims": "input",
    "tensorflow.identity": "input",
    "tensorflow.image.grayscale_to_rgb": "images",
    "tensorflow.image.resize": "images",
    "tensorflow.one_hot": "indices",
    "tensorflow.reshape": "tensor",
    "tensorflow.squeeze": "input",
    "tensorflow.transpose": "a",
    "keras.ops.cast": "x",
    "keras.ops.convert_to_tensor": "x",
    "keras.utils.pad_sequences": "sequences",
    "keras.utils.to_categorical": "x",
}
KEEPS_SHAPE = GIVES_FLOATS | {
    "numpy.abs",
    "numpy.array",
    "numpy.asarray",
    "numpy.ascontiguousarray",
    "numpy.clip",
    "numpy.float32",
    "tensorflow.cast",
    "tensorflow.constant",
    "tensorflow.convert_to_tensor",
    "tensorflow.identity",
    "keras.ops.cast",
    "keras.ops.convert_to_tensor",
}
DTYPE_PLACE = {
    "numpy.array": 1,
    "numpy.asarray": 1,
    "numpy.ascontiguousarray": 1,
    "tensorflow.cast": 1,
    "tensorflow.constant": 1,
    "tensorflow.convert_to_tensor": 1,
    "tensorflow.one_hot": 5,
    "keras.ops.cast": 1,
    "keras.ops.convert_to_tensor": 1,
    "keras.utils.pad_sequences": 2,
}
"""Where those that can be told a dtype are told it."""
HAS_DTYPE = {
    "numpy.float32": "float32",
    "tensorflow.one_hot": "float32",
    "keras.utils.pad_sequences": "int32",
    "keras.utils.to_categorical": None,
}
"""The dtype of what they give if they are told none, where it is not that of the data."""
TOLD = {
    "numpy.expand_dims": "axis",
    "numpy.reshape": "shape",
    "tensorflow.expand_dims": "axis",
    "tensorflow.image.resize": "size",
    "tensorflow.one_hot": "depth",
    "tensorflow.reshape": "shape",
}
"""What tells the shape of the result: the second argument, by its keyword."""
JOINS = frozenset(
    {
        "numpy.concatenate",
        "numpy.hstack",
        "numpy.vstack",
        "tensorflow.concat",
    }
)
MODELS = frozenset(
    {
        "keras.Model",
        "keras.Model.from_config",
        "keras.Sequential",
        "keras.models.clone_model",
        "keras.models.load_model",
        "keras.models.model_from_json",
        "keras.saving.load_model",
    }
)

PATHS = frozenset(
    {
        "glob.glob",
        "glob.iglob",
        "imutils.paths.list_images",
        "os.listdir",
        "os.scandir",
        "tensorflow.gfile.Glob",
        "tensorflow.gfile.ListDirectory",
        "tensorflow.io.gfile.glob",
        "tensorflow.io.gfile.listdir",
        "tensorflow.io.matching_files",
    }
)
PATH = frozenset(
    {
        "os.path.abspath",
        "os.path.join",
        "pathlib.Path",
        "pathlib.PurePath",
        "keras.utils.get_file",
    }
)
FILE_SUFFIXES = (
    ".bmp",
    ".gif",
    ".jpeg",
    ".jpg",
    ".npy",
    ".npz",
    ".png",
    ".tfrecord",
    ".tif",
    ".tiff",
    ".wav",
)
RANGES = frozenset({"range", "trange"})
"""What counts, by its own name."""
WRAPS_ITERABLE = frozenset(
    {
        "itertools.chain",
        "tqdm.auto.tqdm",
        "tqdm.autonotebook.tqdm",
        "tqdm.notebook.tqdm",
        "tqdm.tqdm",
        "tqdm.tqdm_notebook",
    }
)
