"""What tf.data pipelines consist of: a beginning, and steps by the methods of datasets."""

from __future__ import annotations

import ast
from enum import Enum

from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library import pipeline_methods as methods
from tfmemlint.facts.library.makers import argument
from tfmemlint.light_typing import NamedTuple

METHODS = {name: row.parameters for name, row in methods.METHODS.items()}
"""The methods that make a dataset of a dataset, with their parameters in order."""

BATCHING = methods.having(methods.BATCHES)
"""The methods that make one element of several examples."""
USUAL_BATCH = 32
"""Examples of a batch, where nobody knows how many."""
REGROUPING = methods.having(methods.REGROUPS)

_HOLDS = frozenset({"cache", "shuffle"})
_FOR_ALL = ("block_length", "deterministic", "name", "synchronous")
"""Keywords that calls of any method may have."""

ONLY_TF_DATA = methods.having(methods.ONLY_TF_DATA)
ONLY_TF_DATA_KEYWORDS = frozenset(
    {
        "cycle_length",
        "deterministic",
        "drop_remainder",
        "map_func",
        "num_parallel_calls",
        "padded_shapes",
        "reshuffle_each_iteration",
    }
)
"""What only tf.data has: evidence where a chain's beginning is out of sight."""


class From(Enum):
    """What a pipeline begins with."""

    SLICES = "tensor slices"
    TENSORS = "tensors"
    GENERATOR = "a generator"
    FILES = "file names"
    RECORDS = "records"
    RANGE = "a range"
    DIRECTORY = "a directory"
    CATALOGUE = "a ready-made data set"
    MIXED = "several datasets"
    UNSEEN = "out of sight"


SOURCES = {
    "tensorflow.data.Dataset.from_tensor_slices": From.SLICES,
    "tensorflow.data.Dataset.from_tensors": From.TENSORS,
    "tensorflow.data.Dataset.from_generator": From.GENERATOR,
    "tensorflow.data.Dataset.list_files": From.FILES,
    "tensorflow.data.Dataset.range": From.RANGE,
    "tensorflow.data.Dataset.counter": From.RANGE,
    "tensorflow.data.Dataset.random": From.RANGE,
    "tensorflow.data.Dataset.load": From.RECORDS,
    "tensorflow.data.Dataset.zip": From.MIXED,
    "tensorflow.data.Dataset.sample_from_datasets": From.MIXED,
    "tensorflow.data.Dataset.choose_from_datasets": From.MIXED,
    "tensorflow.data.experimental.sample_from_datasets": From.MIXED,
    "tensorflow.data.experimental.choose_from_datasets": From.MIXED,
    "tensorflow.data.experimental.make_csv_dataset": From.DIRECTORY,
    "tensorflow.data.experimental.load": From.RECORDS,
    "tensorflow.data.TFRecordDataset": From.RECORDS,
    "tensorflow.data.TextLineDataset": From.RECORDS,
    "tensorflow.data.FixedLengthRecordDataset": From.RECORDS,
    "keras.utils.image_dataset_from_directory": From.DIRECTORY,
    "keras.utils.text_dataset_from_directory": From.DIRECTORY,
    "keras.utils.audio_dataset_from_directory": From.DIRECTORY,
    "keras.utils.timeseries_dataset_from_array": From.DIRECTORY,
    "tensorflow_datasets.load": From.CATALOGUE,
}
"""The functions that begin a pipeline; `From.DIRECTORY` gives batches unless told otherwise."""


class Source(NamedTuple):
    """The beginning of a pipeline."""

    kind: From
    node: ast.expr | None
    """The call or name it begins with."""
    parts: tuple[Chain, ...] = ()
    """The datasets that are zipped or mixed."""
    declared: bool = False
    """Whether an annotation says that this is a dataset."""
    split: ast.expr | None = None
    """Which part of a ready-made data set it is, where a loader gives several."""


class Step(NamedTuple):
    """One dataset method call in a pipeline."""

    method: str
    call: ast.Call
    frame: Frame | None = None
    """The call through which this step's function was entered, if any."""
    fused: tuple[ast.Call, methods.Fused] | None = None
    """What `apply` is given for this step and others."""

    def argument(self, name: str) -> ast.expr | None:
        """What the step passes for a parameter, by keyword or place."""
        call, parameters = self.call, METHODS.get(self.method, ())
        if self.fused is not None:
            call, (_, parameters) = self.fused
        return argument(call, parameters.index(name) if name in parameters else None, name)

    @property
    def fits(self) -> bool:
        """Whether the call could be this method, by its keywords and the number of arguments."""
        parameters = METHODS.get(self.method)
        if parameters is None or len(self.call.args) > len(parameters):
            return False
        keywords = {each.arg for each in self.call.keywords if each.arg is not None}
        return keywords.issubset({*parameters, *_FOR_ALL})

    @property
    def is_only_tf_data(self) -> bool:
        """Whether nothing but tf.data has such a method, or such a keyword."""
        return self.method in ONLY_TF_DATA or any(
            keyword.arg in ONLY_TF_DATA_KEYWORDS for keyword in self.call.keywords
        )

    @property
    def caches_in_memory(self) -> bool:
        """Whether this is a `cache` that is given no file."""
        name = self.argument("filename")
        unnamed = not self.call.args and not self.call.keywords
        is_empty = isinstance(name, ast.Constant) and name.value == ""
        return self.method == "cache" and (unnamed or is_empty)

    @property
    def caches_in_a_file(self) -> bool:
        """Whether this is a `cache` that is surely given one; what has a name may be empty."""
        name = self.argument("filename") if self.method == "cache" else None
        told = not isinstance(name, (ast.Attribute, ast.Name, ast.Subscript))
        return name is not None and told and not self.caches_in_memory


class Chain(NamedTuple):
    """One way through a pipeline: where it begins, and its steps in order."""

    source: Source
    steps: tuple[Step, ...] = ()

    @property
    def methods(self) -> tuple[str, ...]:
        """The names of the steps."""
        return tuple([step.method for step in self.steps])

    @property
    def calls(self) -> tuple[ast.Call, ...]:
        """The calls of the steps."""
        return tuple([step.call for step in self.steps])  # asked most often of all

    @property
    def zipped(self) -> tuple[tuple[Chain, int], ...]:
        """Each of the pipelines that are zipped or mixed, as it goes on; and where it does so."""
        return tuple(
            (part._replace(steps=(*part.steps, *self.steps)), len(part.steps))
            for part in self.source.parts
        )

    def sharing(self, cache: int, passing: frozenset[str]) -> int | None:
        """The last step that holds elements of a `cache` at a place, or that place itself.

        Behind nothing but steps of the methods `passing`; None if more may be held further on.
        """
        last = place = cache
        while place + 1 < len(self.steps) and self.steps[place + 1].method in passing | _HOLDS:
            place += 1
            last = place if self.steps[place].method in _HOLDS else last
        return None if _HOLDS.intersection(self.methods[last + 1 :]) else last

    @property
    def is_certain(self) -> bool:
        """Whether this is a tf.data pipeline beyond doubt, by its beginning or by its steps."""
        in_sight = self.source.kind is not From.UNSEEN or self.source.declared
        return in_sight or any(step.is_only_tf_data for step in self.steps)
