"""Every rule's claim, tried with the rule's own programs."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator

import pytest

from tfmemlint import registry
from tfmemlint.verify.terminal import Progress
from tfmemlint.verify.trials import Trial, default_jobs, trials
from tfmemlint.verify.weighing import Settings
from tfmemlint.vocabulary import Metric, Rule

Attempt = Callable[[Rule], Trial]

RULES = registry.load()


@pytest.fixture(scope="module")
def attempt(request: pytest.FixtureRequest) -> Iterator[Attempt]:
    """Try rules ahead of the tests, as many at a time as there are processors.

    Where tests are spread over processes already, each tries what it is asked for.
    """
    apart = "PYTEST_XDIST_WORKER" in os.environ
    names = {item.name for item in request.session.items}
    ahead = [rule for rule in RULES.values() if f"{_TEST}[{rule.code}]" in names]
    coming = _tried([] if apart else ahead)
    done: dict[str, Trial] = {}

    def attempt(rule: Rule) -> Trial:
        while rule.code not in done:
            trial = next(coming, None) or next(_tried([rule]))
            done[trial.rule.code] = trial
        return done.pop(rule.code)

    yield attempt
    coming.close()


def _each() -> Iterator[object]:
    """Each rule; one for each thing that is weighed is tried wherever tests are run at all.

    Times are told only where nothing else runs, so these are among the slow ones.
    """
    tried = {Metric.STEP_TIME}
    for code, rule in RULES.items():
        marks = [pytest.mark.slow] if rule.claim.metric in tried else []
        tried.add(rule.claim.metric)
        yield pytest.param(rule, id=code, marks=marks)


@pytest.mark.tensorflow
@pytest.mark.parametrize("rule", list(_each()))
def test_the_fix_saves_what_the_rule_claims(rule: Rule, attempt: Attempt) -> None:
    outcome = attempt(rule).outcome
    if isinstance(outcome, Exception):
        raise outcome
    assert outcome.doubt is None


def _tried(rules: list[Rule]) -> Generator[Trial, None, None]:
    pairs = [(rule, registry.folder(rule)) for rule in rules]
    return trials(pairs, Settings(runs=1, seconds=600), default_jobs(), Progress())


_TEST = test_the_fix_saves_what_the_rule_claims.__name__
