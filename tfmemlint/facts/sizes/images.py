"""What other libraries make of pictures: how they read them, cut them to size and color them."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes.amounts import Amount, count, named
from tfmemlint.facts.sizes.sized import Ask, Sized
from tfmemlint.facts.sizes.told import Told

IMAGES = frozenset(
    {
        "PIL.Image.fromarray",
        "PIL.Image.open",
        "cv2.cvtColor",
        "cv2.imread",
        "cv2.resize",
        "keras.utils.img_to_array",
        "keras.utils.load_img",
    }
)
METHODS = frozenset({"convert", "resize"})
"""What pictures of Pillow are asked for; NumPy's arrays are resized where they are."""
SIDES = (named("height"), named("width"))
_THREE, _FOUR = (count(3),), (count(4),)
_CHANNELS = {"CMYK": _FOUR, "HSV": _THREE, "L": (), "LAB": _THREE, "RGB": _THREE, "RGBA": _FOUR}
_OF_COLORS = {"BGRA": _FOUR, "GRAY": (), "RGBA": _FOUR}


class Images:
    """The shapes and types of pictures, each a byte a channel as they are read."""

    def __init__(self, tf: TensorFlow) -> None:
        self._told = tf.of(Told)

    def of(self, name: str, node: ast.Call, frame: Frame | None, ask: Ask) -> Sized | None:
        """The picture that a function gives."""
        if name == "PIL.Image.open":
            return Sized((*SIDES, named("channels")), "uint8")
        if name == "keras.utils.load_img":
            size = self._told.shape(argument(node, None, "target_size"), frame)
            mode = argument(node, None, "color_mode")
            gray = isinstance(mode, ast.Constant) and mode.value == "grayscale"
            sides = size if size is not None and len(size) == 2 else SIDES
            return Sized((*sides, count(1 if gray else 3)), "uint8")
        if name == "cv2.imread":
            flag = argument(node, 1, "flags")
            gray = flag is not None and "GRAY" in ast.unparse(flag)
            return Sized(SIDES if gray else (*SIDES, count(3)), "uint8")
        given = ask(node.args[0], frame) if node.args else None
        if name == "keras.utils.img_to_array":
            return None if given is None else given._replace(dtype="float32")
        if name == "cv2.cvtColor":
            return _colored(given, argument(node, 1, "code"))
        if name == "PIL.Image.fromarray":
            return given
        return self._resized(given, argument(node, 1, "dsize"), frame)

    def method(self, node: ast.Call, given: Sized, frame: Frame | None) -> Sized | None:
        """What a method makes of a picture of Pillow."""
        if not isinstance(node.func, ast.Attribute):
            return None
        if node.func.attr == "resize":
            return self._resized(given, argument(node, 0, "size"), frame)
        told = argument(node, 0, "mode")
        mode = told.value if isinstance(told, ast.Constant) else None
        if given.dims is None or mode not in _CHANNELS:
            return None
        return Sized((*given.dims[:2], *_CHANNELS[mode]), "uint8")

    def _resized(
        self, given: Sized | None, told: ast.expr | None, frame: Frame | None
    ) -> Sized | None:
        size: tuple[Amount, ...] | None = self._told.shape(told, frame)
        if given is None or given.dims is None or size is None or len(size) != len(SIDES):
            return None
        return given._replace(dims=(size[1], size[0], *given.dims[2:]))


def _colored(given: Sized | None, code: ast.expr | None) -> Sized | None:
    """A picture in other colors, as the constant says: `COLOR_BGR2GRAY`."""
    if given is None or given.dims is None or not isinstance(code, (ast.Attribute, ast.Name)):
        return None
    named_by = code.attr if isinstance(code, ast.Attribute) else code.id
    made = named_by.partition("2")[2].upper().replace("YCR_CB", "YCRCB")
    if not made.isalpha():  # packed formats: `COLOR_YUV2BGR_NV12`
        return None
    return given._replace(dims=(*given.dims[:2], *_OF_COLORS.get(made, _THREE)))
