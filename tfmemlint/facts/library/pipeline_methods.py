"""What each method makes of a tf.data dataset: one row a method, and all lists of them by it."""

from __future__ import annotations

from collections.abc import Mapping

from tfmemlint.facts.library.words import FUSED_METHODS
from tfmemlint.light_typing import NamedTuple

KEEPS = 1 << 0
"""Its elements are ones that it is given, as they were."""
COUNTS = 1 << 1
"""It gives one element for each that it is given."""
ADDS = 1 << 2
"""It has elements of other datasets, too."""
CHOOSES = 1 << 3
"""It leaves elements out by what they hold."""
FAILS = 1 << 4
"""It leaves out elements that cannot be made."""
STORES = 1 << 5
"""It keeps elements for the next time it is read."""
SHUFFLES = 1 << 6
"""It gives elements in another order, out of a buffer that holds them."""
LOOSENS = 1 << 7
"""It may allow other steps another order."""
BATCHES = 1 << 8
"""It makes one element of several examples."""
REGROUPS = 1 << 9
"""It makes other elements of the same data: larger ones, smaller ones, of several datasets."""
MORE = 1 << 10
"""It may make more elements than it is given, and not the same ones again as `repeat`."""
OF_DATASETS = 1 << 11
"""It makes a dataset of each element."""
STEADY = 1 << 12
"""It gives the same for the same, in the same order, if the function it is given does."""
ONLY_TF_DATA = 1 << 13
"""Nothing but tf.data has such a method."""


class Method(NamedTuple):
    """One method that makes a dataset of a dataset."""

    parameters: tuple[str, ...]
    """In order."""
    traits: int
    function: int | None = None
    """At which place it takes a function that it traces."""


METHODS: Mapping[str, Method] = {
    "apply": Method(("transformation_func",), MORE),
    "assert_cardinality": Method(("expected_cardinality",), KEEPS | COUNTS | STEADY | ONLY_TF_DATA),
    "batch": Method(
        ("batch_size", "drop_remainder", "num_parallel_calls", "deterministic"),
        BATCHES | REGROUPS | STEADY,
    ),
    "bucket_by_sequence_length": Method(
        ("element_length_func", "bucket_boundaries", "bucket_batch_sizes"), ONLY_TF_DATA
    ),
    "cache": Method(("filename",), KEEPS | COUNTS | STORES | STEADY),
    "concatenate": Method(("dataset",), KEEPS | ADDS),
    "enumerate": Method(("start",), COUNTS | STEADY),
    "filter": Method(("predicate",), KEEPS | CHOOSES | STEADY, function=0),
    "flat_map": Method(("map_func",), MORE | REGROUPS | OF_DATASETS | ONLY_TF_DATA, function=0),
    "group_by_window": Method(
        ("key_func", "reduce_func", "window_size", "window_size_func"), ONLY_TF_DATA, function=1
    ),
    "ignore_errors": Method(("log_warning",), KEEPS | FAILS | STEADY | ONLY_TF_DATA),
    "interleave": Method(
        ("map_func", "cycle_length", "block_length", "num_parallel_calls"),
        MORE | REGROUPS | OF_DATASETS | ONLY_TF_DATA,
        function=0,
    ),
    "map": Method(("map_func", "num_parallel_calls", "deterministic"), COUNTS | STEADY, function=0),
    "padded_batch": Method(
        ("batch_size", "padded_shapes", "padding_values", "drop_remainder"),
        BATCHES | REGROUPS | STEADY | ONLY_TF_DATA,
    ),
    "prefetch": Method(("buffer_size",), KEEPS | COUNTS | STEADY | ONLY_TF_DATA),
    "ragged_batch": Method(
        ("batch_size", "drop_remainder", "row_splits_dtype"),
        BATCHES | REGROUPS | STEADY | ONLY_TF_DATA,
    ),
    "rebatch": Method(("batch_size", "drop_remainder"), REGROUPS),
    "repeat": Method(("count",), KEEPS | STEADY),
    "scan": Method(("initial_state", "scan_func"), COUNTS, function=1),
    "shard": Method(("num_shards", "index"), KEEPS | STEADY),
    "shuffle": Method(
        ("buffer_size", "seed", "reshuffle_each_iteration"), KEEPS | COUNTS | SHUFFLES
    ),
    "skip": Method(("count",), KEEPS | STEADY),
    "snapshot": Method(("path",), KEEPS | COUNTS | STORES),
    "sparse_batch": Method(("batch_size", "row_shape"), 0),
    "take": Method(("count",), KEEPS | STEADY),
    "take_while": Method(("predicate",), KEEPS | CHOOSES | STEADY | ONLY_TF_DATA, function=0),
    "unbatch": Method((), MORE | REGROUPS | STEADY | ONLY_TF_DATA),
    "unique": Method((), KEEPS | CHOOSES),
    "window": Method(("size", "shift", "stride", "drop_remainder"), MORE | REGROUPS | STEADY),
    "with_options": Method(("options",), KEEPS | COUNTS | LOOSENS | ONLY_TF_DATA),
}


class Fused(NamedTuple):
    """A function for `apply` that does what several methods do, one after the other."""

    methods: tuple[str, ...]
    parameters: tuple[str, ...]
    """Of the function, in order; called as those of the methods."""


FUSED: Mapping[str, Fused] = {
    "map_and_batch": Fused(
        FUSED_METHODS["map_and_batch"],
        (
            "map_func",
            "batch_size",
            "num_parallel_batches",
            "drop_remainder",
            "num_parallel_calls",
        ),
    ),
    "shuffle_and_repeat": Fused(
        FUSED_METHODS["shuffle_and_repeat"], ("buffer_size", "count", "seed")
    ),
    "unbatch": Fused(("unbatch",), ()),
}


def having(traits: int, but: int = 0) -> frozenset[str]:
    """The methods that have one of some traits, and none of others."""
    return frozenset(
        name for name, row in METHODS.items() if row.traits & traits and not row.traits & but
    )


HANDS_ON = having(KEEPS, but=ADDS | CHOOSES | FAILS | STORES | SHUFFLES)
"""The methods that give elements on as they come: these, fewer, or all of them again."""
PASSING = HANDS_ON | {"shuffle"}
"""The same, in whatever order."""
