"""The models of `keras.applications`: how many numbers their weights are, as Keras 3.15 counts."""

from __future__ import annotations

from tfmemlint.light_typing import NamedTuple


class Counted(NamedTuple):
    """The weights of a model, for pictures of three channels."""

    body: int
    """Those without the top."""
    between: int
    """Those of the top but for its last layer."""
    features: int
    """How many numbers the last layer is given: as many weights for each class, and one more."""
    channels: int
    """How many a pixel has of what comes out without the top."""

    def weights(self, classes: int | None) -> int:
        """All of them, with a top for so many classes or with none."""
        top = 0 if classes is None else self.between + (self.features + 1) * classes
        return self.body + top


COUNTED = {
    "ConvNeXtBase": Counted(87_566_464, 0, 1_024, 1_024),
    "ConvNeXtLarge": Counted(196_230_336, 0, 1_536, 1_536),
    "ConvNeXtSmall": Counted(49_454_688, 0, 768, 768),
    "ConvNeXtTiny": Counted(27_820_128, 0, 768, 768),
    "ConvNeXtXLarge": Counted(348_147_968, 0, 2_048, 2_048),
    "DenseNet121": Counted(7_037_504, 0, 1_024, 1_024),
    "DenseNet169": Counted(12_642_880, 0, 1_664, 1_664),
    "DenseNet201": Counted(18_321_984, 0, 1_920, 1_920),
    "EfficientNetB0": Counted(4_049_571, 0, 1_280, 1_280),
    "EfficientNetB1": Counted(6_575_239, 0, 1_280, 1_280),
    "EfficientNetB2": Counted(7_768_569, 0, 1_408, 1_408),
    "EfficientNetB3": Counted(10_783_535, 0, 1_536, 1_536),
    "EfficientNetB4": Counted(17_673_823, 0, 1_792, 1_792),
    "EfficientNetB5": Counted(28_513_527, 0, 2_048, 2_048),
    "EfficientNetB6": Counted(40_960_143, 0, 2_304, 2_304),
    "EfficientNetB7": Counted(64_097_687, 0, 2_560, 2_560),
    "EfficientNetV2B0": Counted(5_919_312, 0, 1_280, 1_280),
    "EfficientNetV2B1": Counted(6_931_124, 0, 1_280, 1_280),
    "EfficientNetV2B2": Counted(8_769_374, 0, 1_408, 1_408),
    "EfficientNetV2B3": Counted(12_930_622, 0, 1_536, 1_536),
    "EfficientNetV2L": Counted(117_746_848, 0, 1_280, 1_280),
    "EfficientNetV2M": Counted(53_150_388, 0, 1_280, 1_280),
    "EfficientNetV2S": Counted(20_331_360, 0, 1_280, 1_280),
    "InceptionResNetV2": Counted(54_336_736, 0, 1_536, 1_536),
    "InceptionV3": Counted(21_802_784, 0, 2_048, 2_048),
    "MobileNet": Counted(3_228_864, 0, 1_024, 1_024),
    "MobileNetV2": Counted(2_257_984, 0, 1_280, 1_280),
    "MobileNetV3Large": Counted(2_996_352, 1_230_080, 1_280, 960),
    "MobileNetV3Small": Counted(939_120, 590_848, 1_024, 576),
    "NASNetLarge": Counted(84_916_818, 0, 4_032, 4_032),
    "NASNetMobile": Counted(4_269_716, 0, 1_056, 1_056),
    "ResNet101": Counted(42_658_176, 0, 2_048, 2_048),
    "ResNet101V2": Counted(42_626_560, 0, 2_048, 2_048),
    "ResNet152": Counted(58_370_944, 0, 2_048, 2_048),
    "ResNet152V2": Counted(58_331_648, 0, 2_048, 2_048),
    "ResNet50": Counted(23_587_712, 0, 2_048, 2_048),
    "ResNet50V2": Counted(23_564_800, 0, 2_048, 2_048),
    "VGG16": Counted(14_714_688, 119_545_856, 4_096, 512),
    "VGG19": Counted(20_024_384, 119_545_856, 4_096, 512),
    "Xception": Counted(20_861_480, 0, 2_048, 2_048),
}
OWN_ORDER = ("MobileNet", "NASNet")
"""Those whose arguments come in an order of their own."""
_SIDES = {
    "down": "ConvNeXt DenseNet VGG",
    "even": "EfficientNetB MobileNet NASNet",
    "inception": "Inception",
    "up": "EfficientNetV2 ResNet",
    "xception": "Xception",
}
_RULES = tuple((name, rule) for rule, names in _SIDES.items() for name in names.split())


def side_of(name: str, side: int) -> int | None:
    """How long a side of a picture still is in what a model makes of it without its top.

    All halve it five times. Some round up each time, some down; those that are `even` do either,
    by what they are told of the picture as they are made, and convolutions without padding take
    something off besides.
    """
    rule = next((rule for start, rule in _RULES if name.startswith(start)), None)
    if rule is None or side < 32:
        return None
    if rule == "up":
        return -(-side // 32)
    if rule == "down":
        return side // 32
    if rule == "even":
        return None if side % 32 else side // 32
    side = _third(side) - 2
    if rule == "xception":
        return -(-side // 16)
    return _third(_third(_third(_third(side) - 2)))


def _third(side: int) -> int:
    """What three by three without padding makes of a side, at every second place."""
    return (side - 3) // 2 + 1
