"""One name for what TensorFlow and Keras offer under several: that by which all tables know it."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

_MODULES = {
    "tensorflow.compat.v2": "tensorflow",
    "tensorflow.compat.v1": "tensorflow",
    "tensorflow._api.v1": "tensorflow",  # as editors import
    "tensorflow._api.v2": "tensorflow",
    "tensorflow_core": "tensorflow",
    "tensorflow.contrib.keras": "keras",
    "tensorflow.python.keras": "keras",
    "tensorflow.keras": "keras",
    "tf_keras": "keras",
    "keras.src": "keras",
    "keras.api": "keras",
    "keras.layers.experimental.preprocessing": "keras.layers",
    "keras.ops.nn": "keras.ops",
    "keras.ops.numpy": "keras.ops",
    "keras.utils.all_utils": "keras.utils",
    "keras.utils.data_utils": "keras.utils",
    "keras.utils.generic_utils": "keras.utils",
    "keras.utils.io_utils": "keras.utils",
    "keras.utils.np_utils": "keras.utils",
    "keras_cv.models": "keras_hub.models",
    "keras_nlp.models": "keras_hub.models",
    "cv2.cv2": "cv2",  # as OpenCV was imported to please editors
}
_NAMES = {
    "keras.Layer": "keras.layers.Layer",
    "keras.Loss": "keras.losses.Loss",
    "keras.Metric": "keras.metrics.Metric",
    "keras.activations.swish": "keras.activations.silu",
    "keras.utils.clear_session": "keras.backend.clear_session",
    "keras.config.set_dtype_policy": "keras.mixed_precision.set_global_policy",
    "keras.layers.Input": "keras.Input",
    "keras.mixed_precision.set_dtype_policy": "keras.mixed_precision.set_global_policy",
    "keras.models.Model": "keras.Model",
    "keras.models.Sequential": "keras.Sequential",
    "keras.ops.swish": "keras.ops.silu",
    "keras.preprocessing.image.img_to_array": "keras.utils.img_to_array",
    "keras.preprocessing.image.load_img": "keras.utils.load_img",
    "keras.preprocessing.image_dataset_from_directory": "keras.utils.image_dataset_from_directory",
    "keras.preprocessing.sequence.pad_sequences": "keras.utils.pad_sequences",
    "keras.preprocessing.text_dataset_from_directory": "keras.utils.text_dataset_from_directory",
    "keras.preprocessing.timeseries_dataset_from_array": (
        "keras.utils.timeseries_dataset_from_array"
    ),
    "keras.saving.load_model": "keras.models.load_model",
    "keras.utils.PyDataset": "keras.utils.Sequence",
    "tensorflow.autodiff.GradientTape": "tensorflow.GradientTape",
    "tensorflow.contrib.data.AUTOTUNE": "tensorflow.data.AUTOTUNE",
    "tensorflow.data.experimental.AUTOTUNE": "tensorflow.data.AUTOTUNE",
    "tensorflow.python.data.ops.dataset_ops.DatasetV2": "tensorflow.data.Dataset",
    "tensorflow.image.resize_image_with_crop_or_pad": "tensorflow.image.resize_with_crop_or_pad",
    "tensorflow.image.resize_image_with_pad": "tensorflow.image.resize_with_pad",
    "tensorflow.random_crop": "tensorflow.image.random_crop",
    "tensorflow.read_file": "tensorflow.io.read_file",
}
_ENGINES = (
    "keras.engine",
    "keras.engine.base_layer",
    "keras.engine.functional",
    "keras.engine.input_layer",
    "keras.engine.sequential",
    "keras.engine.topology",
    "keras.engine.training",
)
"""Where the parts of Keras stood that all others were made of."""
OPTIMIZERS = "Adadelta Adafactor Adagrad Adam AdamW Adamax Ftrl Lion Nadam RMSprop SGD"
_ALIKE: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("keras", _ENGINES, "Input Model Sequential"),
    ("keras.layers", _ENGINES, "Layer"),
    ("keras.losses", ("tensorflow.losses",), "Loss"),
    ("keras.metrics", ("tensorflow.metrics",), "Mean Metric Sum"),
    ("keras.optimizers", ("tensorflow.optimizers",), OPTIMIZERS),
    (
        "tensorflow",
        ("tensorflow.dtypes",),
        """bfloat16 bool cast complex128 complex64 float16 float32 float64 int16 int32 int64 int8
        string uint16 uint32 uint64 uint8""",
    ),
    (
        "tensorflow.config",
        ("tensorflow.config.experimental",),
        "get_visible_devices set_visible_devices",
    ),
    (
        "tensorflow.io",
        ("tensorflow.image",),
        "decode_and_crop_jpeg decode_bmp decode_gif decode_image decode_jpeg decode_png",
    ),
    (
        "tensorflow.random",
        ("tensorflow.random.experimental",),
        "Generator get_global_generator",
    ),
)
_CANONICAL = {
    **_MODULES,
    **_NAMES,
    **{
        f"{old}.{word}": f"{new}.{word}"
        for new, olds, words in _ALIKE
        for old in olds
        for word in words.split()
    },
}
_NO_MODELS = frozenset({"TFTrainer", "TFTrainingArguments"})
_FOR_MANY = frozenset({b"Model", b"TFModel", b"Tokenizer"})
"""Names that stand for many, and that nobody writes."""
_LONGEST = max(name.count(".") for name in _CANONICAL) + 1


@lru_cache(maxsize=10_000)
def canonical(name: str) -> str:
    """One name for what TensorFlow and Keras offer under several; the longest match wins."""
    parts = name.split(".")
    for length in range(min(len(parts), _LONGEST), 0, -1):
        head = _CANONICAL.get(".".join(parts[:length]))
        if head is not None:
            return canonical(".".join([head, *parts[length:]]))
    if name.startswith("keras.layers.") and parts[2].islower():
        return ".".join([*parts[:2], *_after_modules(parts[2:])])
    return _of_many(name, parts)


def _of_many(name: str, parts: list[str]) -> str:
    """One name for all the classes that a library of models has, for each purpose one."""
    if parts[0] == "transformers" and len(parts) > 1:
        if parts[1].startswith("TF") and parts[1][2:3].isupper() and parts[1] not in _NO_MODELS:
            return ".".join(["transformers.TFModel", *parts[2:]])
        if parts[1].endswith(("Tokenizer", "TokenizerFast")):
            return ".".join(["transformers.Tokenizer", *parts[2:]])
    if name.startswith("keras_hub.models.") and parts[2][:1].isupper():
        is_model = not parts[2].endswith(("Converter", "Preprocessor", "Tokenizer"))
        return ".".join(["keras_hub.models.Model", *parts[3:]]) if is_model else name
    return name


def _after_modules(parts: list[str]) -> list[str]:
    """What is left of the parts of a name without the modules that layers once stood in."""
    first = next((place for place, each in enumerate(parts) if not each.islower()), len(parts) - 1)
    return parts[first:]


_OTHERS: defaultdict[str, list[str]] = defaultdict(list)
"""By its canonical name, what each is called besides."""
for _old, _new in _CANONICAL.items():
    _OTHERS[_new].append(_old)


def ending(names: tuple[str, ...]) -> frozenset[str]:
    """What stands behind the last dot of what has a canonical name that ends so."""
    old = (old for new, olds in _OTHERS.items() if new.endswith(names) for old in olds)
    return frozenset(name.rpartition(".")[2] for name in (*names, *old))


@lru_cache(maxsize=1_000)
def last_words(names: frozenset[str]) -> frozenset[str]:
    """What stands behind the last dot where one of these canonical names is meant."""
    meant = [*names]
    for name in meant:
        meant += _OTHERS.get(name, ())
    return frozenset(name.rpartition(".")[2] for name in meant)


@lru_cache(maxsize=1_000)
def spellings(names: frozenset[str]) -> tuple[frozenset[bytes], ...]:
    """The words of each way to spell one of these canonical names in full.

    Whatever means it was imported by some of them, and goes on with the others.
    """
    found: list[frozenset[bytes]] = []
    pending = [*names]
    for name in pending:
        words = frozenset(name.encode().split(b"."))
        if name.startswith(("keras_hub.", "transformers.")):
            words -= _FOR_MANY
        if any(each <= words for each in found):
            continue  # where all of these are, so are those
        found.append(words)
        parts = name.split(".")
        heads = (".".join(parts[:length]) for length in range(1, len(parts) + 1))
        pending += (
            old + name.removeprefix(head) for head in heads for old in _OTHERS.get(head, ())
        )
    return tuple(found)
