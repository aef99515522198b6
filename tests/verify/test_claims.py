"""Every rule's claim, tried with the rule's own programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator
from functools import partial

import pytest

from tfmemlint import registry
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.processes import ProgramError
from tfmemlint.verify.terminal import Progress
from tfmemlint.verify.trials import Trial, default_jobs, trials
from tfmemlint.verify.weighing import Settings, verify
from tfmemlint.vocabulary import Metric, Rule

Attempt = Callable[[Rule], Trial]

RULES = registry.load()
SETTINGS = Settings(runs=1, seconds=600)


@pytest.fixture(scope="module")
def attempt(request: pytest.FixtureRequest, bench: Bench) -> Iterator[Attempt]:
    """Try rules ahead of the tests, as many at a time as there are processors.

    Where tests are spread over processes already, each tries what it is asked for.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        yield partial(_attempted, bench)
        return
    names = {item.name for item in request.session.items}
    coming = _tried([rule for rule in RULES.values() if f"{_TEST}[{rule.code}]" in names])
    done: dict[str, Trial] = {}

    def attempt(rule: Rule) -> Trial:
        while rule.code not in done:
            trial = next(coming, None) or next(_tried([rule]))
            done[trial.rule.code] = trial
        return done.pop(rule.code)

    yield attempt
    coming.close()


def _each() -> Iterator[object]:
    """Each rule; one that holds less and one that is traced less are tried wherever tests are run.

    What else is weighed, the tests of meters weigh with programs of a few lines.
    """
    left = {Metric.DEVICE_PEAK, Metric.TRACES}
    for code, rule in RULES.items():
        marks = [] if rule.claim.metric in left else [pytest.mark.slow]
        left.discard(rule.claim.metric)
        yield pytest.param(rule, id=code, marks=marks)


@pytest.mark.tensorflow
@pytest.mark.parametrize("rule", list(_each()))
def test_the_fix_saves_what_the_rule_claims(rule: Rule, attempt: Attempt) -> None:
    outcome = attempt(rule).outcome
    if isinstance(outcome, Exception):
        raise outcome
    assert outcome.doubt is None


def _attempted(bench: Bench, rule: Rule) -> Trial:
    try:
        return Trial(rule, verify(rule, registry.folder(rule), SETTINGS, run=bench.run))
    except ProgramError as failure:
        return Trial(rule, failure)


def _tried(rules: list[Rule]) -> Generator[Trial, None, None]:
    pairs = [(rule, registry.folder(rule)) for rule in rules]
    return trials(pairs, SETTINGS, default_jobs(), Progress())


_TEST = test_the_fix_saves_what_the_rule_claims.__name__
