"""The one table of what functions do, and the lists that are projections of it."""

from __future__ import annotations

from importlib import import_module

import pytest

from tfmemlint.facts.library import pipeline_methods as of_pipelines
from tfmemlint.facts.library import signatures, traits
from tfmemlint.facts.library.known_data import READ_DATA_SETS
from tfmemlint.facts.library.pipeline_methods import HANDS_ON, METHODS
from tfmemlint.facts.library.signatures import APIS, having

FACTS, RULES = "tfmemlint.facts", "tfmemlint_rules"


def without(names: frozenset[str], *prefixes: str) -> frozenset[str]:
    return frozenset(each for each in names if not each.startswith(prefixes))


ELEMENTS = f"{FACTS}.library.element_ops"
FILES = f"{FACTS}.library.reading"
MAKERS = f"{FACTS}.library.makers"
FILLED = frozenset(name for name, row in APIS.items() if row.filled)
COUNTED = {name for name, row in APIS.items() if row.counts}
LISTED = having(traits.LISTED)

PROJECTIONS: dict[str, frozenset[str]] = {
    f"{MAKERS}.MODELS": having(traits.MODEL),
    f"{MAKERS}.PATHS": having(traits.PATHS),
    f"{MAKERS}.PATH": having(traits.PATH),
    f"{MAKERS}.FRAMES": having(traits.FRAME),
    f"{MAKERS}.LOADS_WHOLE": having(traits.LOADS),
    f"{MAKERS}.RANDOM_GENERATORS": having(traits.GENERATOR),
    f"{MAKERS}.GIVES_FLOATS": having(traits.FLOATS),
    f"{MAKERS}.SHAPE_OF": without(having(traits.GIVES_SHAPE), "keras.backend."),
    f"{MAKERS}.SPLITS_ARGUMENTS": having(traits.SPLITS),
    f"{MAKERS}.KEEPS_SHAPE": having(traits.SHAPE),
    f"{MAKERS}.WRAPS_ITERABLE": having(traits.WRAPS),
    f"{ELEMENTS}.EXACT": without(having(traits.EXACT), "numpy."),
    f"{ELEMENTS}.CASTS": without(having(traits.CASTS), "numpy."),
    f"{ELEMENTS}.KEEPS_SIZE": without(having(traits.SIZE), "numpy.", "keras."),
    f"{ELEMENTS}.EXPANDS": having(traits.EXPANDS),
    f"{ELEMENTS}.RESHAPES": without(having(traits.RESHAPES), "numpy."),
    f"{ELEMENTS}.DECODES": having(traits.PIXELS),
    f"{ELEMENTS}.REINTERPRETS": having(traits.BYTES),
    f"{ELEMENTS}.PARSES": having(traits.PARSES),
    f"{ELEMENTS}.INTERPOLATES": having(traits.INTERPOLATES),
    f"{ELEMENTS}.RUNS_PYTHON": having(traits.RUNS_PYTHON),
    f"{ELEMENTS}.STATEFUL": having(traits.STATEFUL),
    f"{FACTS}.library.tensor_functions._SINGLE": having(traits.SINGLE),
    f"{FACTS}.library.tensor_functions._SEVERAL": having(traits.SEVERAL),
    f"{FILES}.READERS": having(traits.SCANS),
    f"{FILES}.OPENS": having(traits.OPENS),
    f"{FILES}.IN_MEMORY": having(traits.IN_MEMORY),
    f"{FILES}.LOADS": having(traits.READS),
    f"{FILES}.DECODES": having(traits.DECODES),
    f"{FILES}.TAKES_IMAGES": having(traits.IMAGES),
    f"{FILES}.REDUCES": having(traits.FEWER),
    f"{FACTS}.flow.iterables._SAMPLES": having(traits.SAMPLES),
    f"{FACTS}.flow.stacks._NAMES": LISTED,
    f"{FACTS}.flow.unchanged._GIVES_VIEW": having(traits.VIEW),
    f"{FACTS}.flow.unchanged._MAKES": frozenset(
        {*FILLED, *COUNTED, "numpy.eye", "numpy.identity"}
        | having(traits.SPACED | traits.LOADS | traits.FRAME | traits.SPLITS)
    ),
    f"{FACTS}.flow.wholes._MAKES": READ_DATA_SETS
    | FILLED
    | having(traits.FRAME | traits.LOADS | traits.GENERATOR),
    f"{FACTS}.graphs.tensors._TAKES_TENSOR": having(traits.TENSOR_FIRST),
    f"{FACTS}.graphs.tensors._SHAPE_OF": having(traits.GIVES_SHAPE),
    f"{FACTS}.graphs.pulls.PROGRESS": having(traits.PROGRESS),
    f"{FACTS}.graphs.pulls._ENDLESS": having(traits.ENDLESS),
    f"{RULES}._analyses.accumulations.TAKES_LIST": having(traits.PACKS),
    f"{RULES}._analyses.joins._JOINS": having(traits.JOINS | traits.JOINS_TWO),
}
"""The tables that were sets of functions, by the traits that make them."""

NOWHERE = {
    "keras.ops.clip_by_value",
    "keras.ops.concat",
    "keras.ops.truediv",
    "tensorflow.image.decode_raw",
    "tensorflow.parse_sequence_example",
}
"""Names that no version of the libraries has; beside those that were products of two lists."""


@pytest.mark.parametrize("table", PROJECTIONS)
def test_a_set_of_functions_is_a_projection(table: str) -> None:
    module, _, name = table.rpartition(".")
    old = getattr(import_module(module), name)
    products = old if module == ELEMENTS and len(old) > 10 else set[str]()

    assert PROJECTIONS[table] <= old
    assert old - PROJECTIONS[table] <= NOWHERE | products


def test_tables_with_columns_are_projections() -> None:
    makers = import_module(MAKERS)

    def of(names: frozenset[str]) -> dict[str, str | None]:
        return {name: APIS[name].of for name in names}

    def plain(table: dict[str, object]) -> dict[str, object]:
        return {name: each for name, each in table.items() if name in APIS}

    assert of(having(traits.DATA)) == makers.KEEPS_DATA
    assert {name: APIS[name].filled for name in FILLED} == {
        name: traits.Filled(*each) for name, each in makers.FILLED.items()
    }
    assert {name: APIS[name].counts for name in COUNTED} == makers.COUNTED
    assert {name: APIS[name].dtype for name in having(traits.SPACED)} == makers.SPACED
    assert {name: APIS[name].dtype for name in having(traits.OWN_DTYPE)} == makers.HAS_DTYPE
    places = {name: row.dtype_place for name, row in APIS.items() if row.dtype_place is not None}
    assert places == makers.DTYPE_PLACE
    told = {name: row.told for name, row in APIS.items() if row.told}
    pieces = import_module(f"{FACTS}.flow.trips")._PIECES
    assert told == makers.TOLD | {name: keyword for name, (_, keyword) in pieces.items()}
    assert having(traits.PIECES) == pieces.keys()
    sizes = {name: row.sizes for name, row in APIS.items() if row.sizes is not None}
    assert sizes == import_module(ELEMENTS).RESIZES
    dtypes = import_module(f"{FACTS}.flow.dtypes")._HAS_DTYPE_OF
    assert plain(dtypes) == {n: row.dtype_of for n, row in APIS.items() if row.dtype_of is not None}
    assert {name: row.reads for name, row in APIS.items() if row.reads} == import_module(
        f"{FACTS}.flow.unchanged"
    )._ONLY_READ
    assert of(LISTED) == import_module(f"{FACTS}.flow.stacks")._LISTED
    joins = import_module(f"{RULES}._analyses.joins")._OF_LIST
    assert of(having(traits.JOINS)) == joins


def test_what_does_the_same_whenever_it_is_traced_is_a_projection() -> None:
    old = import_module(f"{FACTS}.library.steady_words").EXACT
    steady = {name for name in old if "." in name and name != "functools.wraps"}

    assert having(traits.STEADY) - {"functools.wraps"} == steady & APIS.keys()


PASSING = HANDS_ON | {"shuffle"}
METHOD_LISTS: dict[str, tuple[frozenset[str], set[str]]] = {
    f"{FACTS}.pipelines.chains.BATCHING": (of_pipelines.having(of_pipelines.BATCHES), set()),
    f"{FACTS}.pipelines.chains.REGROUPING": (of_pipelines.having(of_pipelines.REGROUPS), set()),
    f"{FACTS}.pipelines.chains.ONLY_TF_DATA": (
        of_pipelines.having(of_pipelines.ONLY_TF_DATA),
        set(),
    ),
    f"{FACTS}.pipelines.elements._KEEPS": (
        of_pipelines.having(of_pipelines.KEEPS),
        {"assert_cardinality"},
    ),
    f"{FACTS}.pipelines.epochs._SAME_OF_SAME": (
        of_pipelines.having(of_pipelines.STEADY),
        set(),
    ),
    f"{FACTS}.pipelines.epochs._REORDERING": (
        of_pipelines.having(of_pipelines.SHUFFLES | of_pipelines.LOOSENS),
        set(),
    ),
    f"{FACTS}.pipelines.epochs._MAKES_DATASETS": (
        of_pipelines.having(of_pipelines.OF_DATASETS),
        set(),
    ),
    f"{FACTS}.pipelines.lengths._MAKES_MORE": (of_pipelines.having(of_pipelines.MORE), {"apply"}),
    f"{FACTS}.pipelines.caches._PLACING": (
        PASSING - {"with_options"},
        {"assert_cardinality"},
    ),
    f"{RULES}._analyses.examples._KEEPS_EXAMPLES": (
        of_pipelines.having(of_pipelines.KEEPS, but=of_pipelines.ADDS) | {"map"},
        {"take_while", "unique"},
    ),
    f"{RULES}._analyses.paddings._PASSES_BATCHES": (
        PASSING | {"cache"},
        {"assert_cardinality", "shard", "with_options"},
    ),
    f"{RULES}.tfm202_shuffle_after_batch.KEEPS_ELEMENTS": (
        PASSING | {"filter"},
        {"assert_cardinality"},
    ),
    f"{RULES}.tfm203_shuffle_buffer_whole_dataset.KEEPS_ELEMENTS": (
        HANDS_ON | {"filter"},
        {"assert_cardinality"},
    ),
    f"{RULES}.tfm204_cache_after_expand.KEEPS": (PASSING, {"assert_cardinality"}),
    f"{RULES}.tfm207_prefetch_oversized.KEEPS_ELEMENTS": (PASSING | {"filter"}, set()),
    f"{RULES}.tfm208_prefetch_many_examples.KEEPS_CACHED": (
        PASSING | {"filter"},
        {"assert_cardinality", "shard", "with_options"},
    ),
    f"{RULES}.tfm222_whole_dataset_as_one_batch.KEEPS_COUNT": (
        of_pipelines.having(of_pipelines.COUNTS) | {"repeat"},
        {"assert_cardinality", "scan", "snapshot", "with_options"},
    ),
    f"{RULES}.tfm223_missing_prefetch.HANDS_ON": (HANDS_ON - {"prefetch"}, set()),
    f"{RULES}.tfm226_batched_twice.KEEPS_ELEMENTS": (
        of_pipelines.having(of_pipelines.KEEPS, but=of_pipelines.ADDS | of_pipelines.CHOOSES),
        set(),
    ),
}
"""The lists of methods that let elements pass, by what makes them, and what they had forgotten."""


@pytest.mark.parametrize("table", METHOD_LISTS)
def test_a_list_of_methods_is_a_projection(table: str) -> None:
    module, _, name = table.rpartition(".")
    projection, forgotten = METHOD_LISTS[table]

    assert projection == getattr(import_module(module), name) | forgotten


def test_methods_have_the_parameters_they_had() -> None:
    chains = import_module(f"{FACTS}.pipelines.chains")
    tracing = import_module(f"{FACTS}.graphs.tracing")

    assert {name: row.parameters for name, row in METHODS.items()} == chains.METHODS
    functions = {name: row.function for name, row in METHODS.items() if row.function is not None}
    assert functions | {"reduce": 1} == tracing.DATASET_TAKES_FUNCTION


def test_every_trait_is_one_that_some_function_has() -> None:
    bits = {each for each in vars(traits).values() if isinstance(each, int) and each > 1}

    assert {each for each in bits if not signatures.having(each)} == set()
