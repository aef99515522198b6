"""What opens, loads and decodes files, and what keeps an array as large as it was: tables."""

from __future__ import annotations

from tfmemlint.facts.library import makers

READERS = frozenset({"csv.reader"})
"""What gives the fields of a row after another."""
PARSES = "numpy.fromstring"
FIELDS = READERS | {PARSES}
OPENS = frozenset(
    {
        "codecs.open",
        "gzip.open",
        "io.open",
        "tensorflow.gfile.FastGFile",
        "tensorflow.gfile.GFile",
        "tensorflow.gfile.Open",
        "tensorflow.io.gfile.GFile",
        "tensorflow.io.read_file",
    }
)
IN_MEMORY = frozenset({"base64.b64decode", "io.BytesIO", "io.StringIO"})
LOADS = frozenset(
    {
        "PIL.Image.open",
        "SimpleITK.ReadImage",
        "cv2.imread",
        "imageio.imread",
        "imageio.v2.imread",
        "imageio.v3.imread",
        "keras.utils.load_img",
        "librosa.load",
        "matplotlib.image.imread",
        "matplotlib.pyplot.imread",
        "nibabel.load",
        "numpy.fromfile",
        "numpy.genfromtxt",
        "numpy.load",
        "numpy.loadtxt",
        "pydicom.dcmread",
        "pyvips.Image.new_from_file",
        "scipy.io.wavfile.read",
        "scipy.misc.imread",
        "scipy.ndimage.imread",
        "skimage.io.imread",
        "soundfile.read",
        "tifffile.imread",
    }
)
DECODES = frozenset(
    {
        "cv2.imdecode",
        "numpy.frombuffer",
        "numpy.fromstring",
        "tensorflow.audio.decode_wav",
        "tensorflow.io.parse_tensor",
        *(
            f"tensorflow.{module}.decode_{kind}"
            for module in ("image", "io")
            for kind in ("and_crop_jpeg", "bmp", "gif", "image", "jpeg", "png", "raw")
        ),
    }
)
SAME_TEXT = frozenset({"list", "map", "str", "tuple"})
TAKES_IMAGES = frozenset(
    {
        "PIL.Image.fromarray",
        "cv2.cvtColor",
        "cv2.resize",
        "keras.utils.img_to_array",
        "skimage.transform.resize",
        "tensorflow.image.resize",
    }
)
ARRAY_ATTRIBUTES = frozenset({"T", "pixel_array", "values"})
ARRAY_METHODS = makers.ARRAY_METHODS | frozenset(
    {"convert", "crop", "filter", "get_data", "get_fdata", "resize", "rotate", "to_numpy"}
    | {"write_to_memory"}
)
KEEPS = frozenset(
    {
        "keras.utils.img_to_array",
        "librosa.amplitude_to_db",
        "librosa.feature.melspectrogram",
        "librosa.power_to_db",
        "librosa.stft",
        "numpy.abs",
        "numpy.add",
        "numpy.concatenate",
        "numpy.divide",
        "numpy.dstack",
        "numpy.flip",
        "numpy.fliplr",
        "numpy.flipud",
        "numpy.float16",
        "numpy.float64",
        "numpy.hstack",
        "numpy.multiply",
        "numpy.ndarray",
        "numpy.pad",
        "numpy.resize",
        "numpy.rollaxis",
        "numpy.rot90",
        "numpy.stack",
        "numpy.subtract",
        "numpy.swapaxes",
        "numpy.uint8",
        "numpy.vstack",
        "numpy.where",
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
    "scipy.ndimage.",
    "skimage.color.",
    "skimage.transform.",
    "skimage.util.",
    "tensorflow.image.",
    "tensorflow.math.add",
    "tensorflow.math.divide",
    "tensorflow.math.multiply",
    "tensorflow.math.subtract",
)
REDUCES = frozenset(
    {
        "cv2.calcHist",
        "cv2.countNonZero",
        "cv2.mean",
        "cv2.minMaxLoc",
        "scipy.ndimage.mean",
        "scipy.ndimage.sum",
        "tensorflow.image.psnr",
        "tensorflow.image.ssim",
        "tensorflow.image.total_variation",
    }
)
