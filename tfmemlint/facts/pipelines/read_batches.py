"""The batches that readers of directories, tables and catalogues give by themselves."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.pipelines.chains import From, Source
from tfmemlint.facts.syntax.nodes import is_none

_KERAS = 32
"""The size of the batches that Keras reads from directories if it is not told one."""
_SIZES = {
    "keras.utils.audio_dataset_from_directory": (None, _KERAS),
    "keras.utils.image_dataset_from_directory": (None, _KERAS),
    "keras.utils.text_dataset_from_directory": (None, _KERAS),
    "keras.utils.timeseries_dataset_from_array": (None, 128),
    "tensorflow.data.experimental.make_csv_dataset": (1, None),
    "tensorflow_datasets.load": (None, None),
}
"""Where readers are told the size, if not by keyword, and what it is if they are not."""


class ReadBatches:
    """What readers make of the examples they read."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names

    def size(self, source: Source) -> ast.expr | None:
        """How many examples an element has that a reader gives; None for one, or who knows."""
        call = source.node
        if source.kind not in (From.DIRECTORY, From.CATALOGUE) or not isinstance(call, ast.Call):
            return None
        place, ready = _SIZES.get(self._names.qualified(call.func) or "", (None, None))
        given = argument(call, place, "batch_size")
        if given is None:
            return None if ready is None or _hides(call) else ast.Constant(ready)
        whole = isinstance(given, ast.UnaryOp)  # `batch_size=-1`, tensors and no data set
        return None if is_none(given) or whole else given

    def are_single(self, source: Source) -> bool:
        """Whether a reader is told to give the examples one by one."""
        call = source.node
        if source.kind is not From.DIRECTORY or not isinstance(call, ast.Call):
            return False
        return is_none(argument(call, None, "batch_size"))


def _hides(call: ast.Call) -> bool:
    return any(each.arg is None for each in call.keywords)
