"""What rounds and requests have code see for the first time."""

import ast
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.novelty import Novelty

Look = Callable[[str], tuple[File, list[ast.expr]]]


@pytest.mark.parametrize(
    ("code", "new"),
    [
        pytest.param("for x in xs:\n    see(f(x))", True, id="what it goes over"),
        pytest.param("for x in xs:\n    y = f(x)\n    see(y)", True, id="made of that"),
        pytest.param("n = 0\nfor x in xs:\n    n += 1\n    see(n)", True, id="counted"),
        pytest.param("while True:\n    see(input())", True, id="typed in"),
        pytest.param("while True:\n    line = file.readline()\n    see(line)", True, id="read"),
        pytest.param("for x in xs:\n    see(y)", False, id="the same"),
        pytest.param("for x in xs:\n    y = 1\n    see(y)", False, id="the same once more"),
        pytest.param("while True:\n    see(f(y))", False, id="out of sight"),
        pytest.param("for x in xs:\n    see(d.get(k, default=1))", False, id="with a default"),
    ],
)
def test_a_round_is_about_what_it_goes_over_or_fetches(look: Look, code: str, new: bool) -> None:
    file, (seen,) = look(code)
    (loop,) = file.tf.loops.around(seen)

    assert file.tf.of(Novelty).is_new(seen, loop) is new


@pytest.mark.parametrize(
    ("decorator", "part", "of_request"),
    [
        ("@app.post('/')", "request", True),
        ("@app.route('/', methods=['GET'])", "f(request.text)", True),
        ("@app.post('/')", "model", False),
        ("@app.post", "request", False),
        ("@functools.cache()", "request", False),
    ],
)
def test_a_request_brings_what_the_function_that_serves_it_binds(
    look: Look, decorator: str, part: str, of_request: bool
) -> None:
    file, (seen,) = look(f"model = load()\n{decorator}\ndef serve(request):\n    see({part})\n")

    assert file.tf.of(Novelty).is_of_request(seen, seen) is of_request
