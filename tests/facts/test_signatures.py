"""The one table of what functions and methods do, of which all lists are projections."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from pathlib import Path

import pytest

from tfmemlint import facts
from tfmemlint.facts.library import pipeline_methods, traits
from tfmemlint.facts.library.pipeline_methods import METHODS
from tfmemlint.facts.library.signatures import APIS, having
from tfmemlint.facts.library.traits import Api

LIBRARY = Path(facts.__file__).parent / "library"
TABLES = ("keras_apis", "loaders", "numpy_apis", "tensorflow_apis", "tensorflow_modules")


def test_every_trait_is_one_that_some_function_has() -> None:
    bits = {each for each in vars(traits).values() if isinstance(each, int) and each > 1}

    assert {each for each in bits if not having(each)} == set()


def test_every_trait_of_methods_is_one_that_some_method_has() -> None:
    bits = {each for each in vars(pipeline_methods).values() if isinstance(each, int)}

    assert {each for each in bits if not pipeline_methods.having(each)} == set()


def test_no_function_stands_in_the_table_twice() -> None:
    named: Counter[str] = Counter()
    for table in TABLES:
        tree = ast.parse((LIBRARY / f"{table}.py").read_text())
        for node in ast.walk(tree):
            if isinstance(node, ast.Dict):
                keys = [each.value for each in node.keys if isinstance(each, ast.Constant)]
                named.update(each for each in keys if isinstance(each, str) and "." in each)
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "alike":
                module, names = (ast.literal_eval(each) for each in node.args[:2])
                named.update(f"{module}.{each}" for each in names.split())

    assert len(named) > len(APIS) // 2
    assert [name for name, count in named.items() if count > 1] == []


def test_a_row_that_says_nothing_is_no_row() -> None:
    assert [name for name, row in APIS.items() if row == Api()] == []


@pytest.mark.slow
@pytest.mark.tensorflow
def test_methods_have_the_parameters_that_tensorflow_gives_them() -> None:
    dataset = pytest.importorskip("tensorflow").data.Dataset
    differ = {}
    for name, row in METHODS.items():
        method = getattr(dataset, name, None)
        if method is not None:
            given = [each for each in inspect.signature(method).parameters if each != "self"]
            differ[name] = (given[: len(row.parameters)], list(row.parameters))

    assert len(differ) > 25
    assert {name: pair for name, pair in differ.items() if pair[0] != pair[1]} == {}
