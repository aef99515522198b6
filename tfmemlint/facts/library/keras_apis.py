"""What each function of Keras makes of its arguments: one row a function."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.facts.library.traits import (
    CASTS,
    DATA,
    EXACT,
    EXPANDS,
    FLOATS,
    GIVES_SHAPE,
    GROWS,
    IMAGES,
    INTERPOLATES,
    JOINS,
    JOINS_TWO,
    LISTED,
    MODEL,
    OWN_DTYPE,
    PACKS,
    PATH,
    READS,
    RESHAPES,
    SHAPE,
    SIZE,
    SPACED,
    STACKS,
    SYMBOLIC,
    Api,
    Filled,
    alike,
)

SEQUENCES = frozenset({"keras.utils.Sequence"})
"""The classes of batches that Keras takes one after the other."""
IMAGE_GENERATORS = frozenset(
    {
        "keras.preprocessing.image.ImageDataGenerator",
        "keras.legacy.preprocessing.image.ImageDataGenerator",
    }
)
SLOTS: Mapping[str, int] = {
    "Adadelta": 2,
    "Adagrad": 1,
    "Adam": 2,
    "AdamW": 2,
    "Adamax": 2,
    "Ftrl": 2,
    "Lion": 1,
    "Nadam": 2,
    "RMSprop": 1,
}
"""How many numbers optimizers keep for each weight."""
KERAS: Mapping[str, Api] = {
    **alike("keras", "Model Sequential", Api(MODEL)),
    "keras.Model.from_config": Api(MODEL),
    "keras.backend.concatenate": Api(JOINS | PACKS | SYMBOLIC, of="tensors"),
    "keras.backend.stack": Api(STACKS | PACKS | SYMBOLIC),
    **alike("keras.backend", "int_shape shape", Api(GIVES_SHAPE)),
    "keras.layers.concatenate": Api(JOINS | PACKS | SYMBOLIC, of="inputs"),
    **alike("keras.layers", "CenterCrop RandomCrop Resizing", Api(INTERPOLATES, sizes=(0, 1))),
    **alike("keras.models", "clone_model load_model model_from_json", Api(MODEL)),
    "keras.ops.append": Api(JOINS_TWO),
    "keras.ops.arange": Api(counts=("int32", "float32")),
    "keras.ops.array": Api(LISTED, of="x"),
    "keras.ops.cast": Api(DATA | SHAPE | CASTS, of="x", dtype_place=1),
    "keras.ops.concatenate": Api(JOINS | PACKS, of="xs", dtype_of=0),
    "keras.ops.convert_to_tensor": Api(DATA | SHAPE | LISTED | PACKS, of="x", dtype_place=1),
    "keras.ops.expand_dims": Api(RESHAPES | EXPANDS, dtype_of=0),
    "keras.ops.linspace": Api(SPACED),
    "keras.ops.saturate_cast": Api(CASTS),
    "keras.ops.shape": Api(GIVES_SHAPE),
    "keras.ops.stack": Api(STACKS | LISTED | PACKS, of="x", dtype_of=0),
    **alike(
        "keras.ops", "abs add maximum minimum multiply square subtract", Api(EXACT, dtype_of=0)
    ),
    **alike(
        "keras.ops",
        """clip cumsum exp gelu log log_softmax matmul ones_like relu sigmoid silu softmax
        sqrt take tanh transpose zeros_like""",
        Api(dtype_of=0),
    ),
    **alike("keras.ops", "divide identity negative stop_gradient", Api(EXACT)),
    **alike("keras.ops", "einsum where", Api(dtype_of=1)),
    **alike("keras.ops", "hstack vstack", Api(JOINS | PACKS, of="xs")),
    **alike("keras.ops", "ones zeros", Api(filled=Filled(0, "shape", "float32", 1))),
    **alike("keras.ops", "pad repeat tile", Api(RESHAPES)),
    **alike("keras.ops", "reshape squeeze", Api(RESHAPES, dtype_of=0)),
    "keras.ops.image.resize": Api(sizes=(1,)),
    "keras.preprocessing.image.smart_resize": Api(INTERPOLATES, sizes=(1,)),
    **alike("keras.random", "normal uniform", Api(filled=Filled(0, "shape", "float32", 3))),
    "keras.utils.get_file": Api(PATH),
    "keras.utils.img_to_array": Api(SIZE | IMAGES),
    "keras.utils.load_img": Api(READS),
    "keras.utils.multi_gpu_model": Api(MODEL),
    "keras.utils.normalize": Api(DATA | SHAPE | FLOATS, of="x"),
    "keras.utils.pad_sequences": Api(
        DATA | OWN_DTYPE | GROWS, of="sequences", dtype="int32", dtype_place=2
    ),
    "keras.utils.to_categorical": Api(DATA | OWN_DTYPE | GROWS, of="x"),
    **alike("keras_hub.models", "Model Model.from_preset", Api(MODEL)),
    **alike("transformers", "TFModel TFModel.from_config TFModel.from_pretrained", Api(MODEL)),
}
