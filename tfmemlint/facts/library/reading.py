"""What opens, loads and decodes files, and what keeps an array as large as it was: tables."""

from __future__ import annotations

from tfmemlint.facts.library import makers, traits
from tfmemlint.facts.library.signatures import having

READERS = having(traits.SCANS)
"""What gives the fields of a row after another."""
PARSES = "numpy.fromstring"
FIELDS = READERS | {PARSES}
OPENS = having(traits.OPENS)
IN_MEMORY = having(traits.IN_MEMORY)
LOADS = having(traits.READS)
DECODES = having(traits.DECODES)
SAME_TEXT = frozenset({"list", "map", "str", "tuple"})
TAKES_IMAGES = having(traits.IMAGES)
ARRAY_ATTRIBUTES = frozenset({"T", "d_signal", "p_signal", "pixel_array", "values"})
ARRAY_METHODS = makers.ARRAY_METHODS | frozenset(
    {"ReadAsArray", "convert", "crop", "filter", "get_data", "get_fdata", "getdata", "read"}
    | {"resize", "rotate", "round", "to_numpy", "tolist", "write_to_memory"}
)
KEEPS = frozenset(
    {
        "PIL.Image.blend",
        "PIL.Image.merge",
        "SimpleITK.GetArrayFromImage",
        "SimpleITK.GetArrayViewFromImage",
        "copy.copy",
        "copy.deepcopy",
        "imutils.resize",
        "keras.backend.cast_to_floatx",
        "keras.utils.img_to_array",
        "librosa.amplitude_to_db",
        "librosa.cqt",
        "librosa.feature.delta",
        "librosa.feature.melspectrogram",
        "librosa.feature.mfcc",
        "librosa.power_to_db",
        "librosa.resample",
        "librosa.stft",
        "librosa.to_mono",
        "numpy.abs",
        "numpy.add",
        "numpy.append",
        "numpy.asanyarray",
        "numpy.concatenate",
        "numpy.copy",
        "numpy.divide",
        "numpy.dstack",
        "numpy.flip",
        "numpy.fliplr",
        "numpy.flipud",
        "numpy.float16",
        "numpy.float64",
        "numpy.hstack",
        "numpy.invert",
        "numpy.maximum",
        "numpy.minimum",
        "numpy.multiply",
        "numpy.nan_to_num",
        "numpy.ndarray",
        "numpy.pad",
        "numpy.resize",
        "numpy.roll",
        "numpy.rollaxis",
        "numpy.rot90",
        "numpy.round",
        "numpy.stack",
        "numpy.subtract",
        "numpy.swapaxes",
        "numpy.uint8",
        "numpy.vstack",
        "numpy.where",
        "scipy.misc.imresize",
        "scipy.signal.resample",
        "sklearn.preprocessing.minmax_scale",
        "sklearn.preprocessing.normalize",
        "sklearn.preprocessing.scale",
        "tensorflow.add",
        "tensorflow.clip_by_value",
        "tensorflow.concat",
        "tensorflow.divide",
        "tensorflow.multiply",
        "tensorflow.pad",
        "tensorflow.reverse",
        "tensorflow.signal.stft",
        "tensorflow.stack",
        "tensorflow.subtract",
    }
)
KEEPING = (
    "PIL.Image.fromarray",
    "PIL.ImageOps.",
    "cv2.",
    "keras.ops.image.",
    "keras.preprocessing.image.",
    "librosa.effects.",
    "librosa.util.",
    "scipy.ndimage.",
    "skimage.color.",
    "skimage.exposure.",
    "skimage.filters.",
    "skimage.img_as_",
    "skimage.transform.",
    "skimage.util.",
    "tensorflow.image.",
    "tensorflow.math.add",
    "tensorflow.math.divide",
    "tensorflow.math.multiply",
    "tensorflow.math.subtract",
)
FILTERS = frozenset({"cv2.createCLAHE"})
"""What makes objects that are applied to pictures."""
PAIRS = frozenset({"cv2.threshold"})
"""What gives a number beside the picture, and before it."""
REDUCES = having(traits.FEWER)
