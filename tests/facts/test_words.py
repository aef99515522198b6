"""Words for triggers hide nothing that the facts know."""

from __future__ import annotations

from tfmemlint.facts.graphs.tracing import DATASET_TAKES_FUNCTION, KERAS_TRACED
from tfmemlint.facts.library.pipeline_methods import FUSED
from tfmemlint.facts.library.words import FUSED_METHODS, PIPELINE_WORDS, TRACED_WORDS
from tfmemlint.facts.pipelines import chains
from tfmemlint.facts.syntax.tracers import TF_FUNCTION


def test_a_pipeline_that_is_surely_of_tf_data_has_one_of_the_words_for_it() -> None:
    functions = {name.rpartition(".")[2] for name in chains.SOURCES if ".Dataset." not in name}
    only = chains.ONLY_TF_DATA | chains.ONLY_TF_DATA_KEYWORDS
    modules = {"Dataset", "DatasetV2", "experimental", "tensorflow_datasets"}

    assert modules | functions - {"load"} | only == {*PIPELINE_WORDS.split()}


def test_code_that_is_surely_traced_has_one_of_the_words_for_it() -> None:
    functions = {name.rpartition(".")[2] for name in TF_FUNCTION}

    assert functions | KERAS_TRACED | set(DATASET_TAKES_FUNCTION) == {*TRACED_WORDS.split()}


def test_who_waits_for_a_method_waits_for_what_does_it_among_others() -> None:
    fused = {name: each.methods for name, each in FUSED.items() if each.methods != (name,)}

    assert fused == FUSED_METHODS
