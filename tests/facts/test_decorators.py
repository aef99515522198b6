"""Which decorators leave a function what it is."""

from __future__ import annotations

import ast

import pytest

from tfmemlint import File
from tfmemlint.facts.syntax.decorators import Decorators

TIMED = """\
import functools

def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        {body}
    return wrapper

@timed
def made():
    return 1
"""
CONFIGURED = """\
import functools

def configured(defaults):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(**kwargs):
            return function(**{**defaults, **kwargs})
        return wrapper
    return decorate

@configured({"name": "a"})
def made(name):
    return 1
"""


def leaves(text: str) -> bool:
    file = File("code.py", text)
    *_, made = (each for each in ast.walk(file.tree) if getattr(each, "name", "") == "made")
    assert isinstance(made, ast.FunctionDef)
    return file.tf.of(Decorators).leave(made)


@pytest.mark.parametrize(
    "text",
    [
        TIMED.format(body="return function(*args, **kwargs)"),
        TIMED.format(body="result = function(*args)\n        print(1)\n        return result"),
        TIMED.format(body="'''Timed.'''\n        return function(*args)").replace(
            "    @functools.wraps(function)\n", ""
        ),
        CONFIGURED,
    ],
)
def test_those_that_hand_through_what_it_gives(text: str) -> None:
    assert leaves(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(TIMED.format(body="return function(function(*args))"), id="twice"),
        pytest.param(TIMED.format(body="return wrap(function(*args))"), id="something of it"),
        pytest.param(TIMED.format(body="return function"), id="the function"),
        pytest.param(
            TIMED.format(body="if args:\n            return function(*args)"), id="at times"
        ),
        pytest.param(
            TIMED.format(
                body="result = function()\n        kept.append(result)\n        return result"
            ),
            id="kept",
        ),
        pytest.param(
            TIMED.format(
                body="for _ in args:\n            result = function()\n        return result"
            ),
            id="in a loop",
        ),
        pytest.param(
            TIMED.format(body="return function()").replace("@timed", "@out_of_sight"), id="unknown"
        ),
        pytest.param(
            TIMED.format(body="return function()").replace("wraps(function)", "lru_cache"),
            id="remembered",
        ),
        pytest.param(
            TIMED.format(body="return function()").replace("def timed", "@cached\ndef timed"),
            id="decorated",
        ),
        pytest.param(CONFIGURED.replace("return decorate", "return other(decorate)"), id="other"),
    ],
)
def test_those_of_which_that_is_not_sure(text: str) -> None:
    assert not leaves(text)
