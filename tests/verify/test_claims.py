"""Every rule's claim, tried with the rule's own programs."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tfmemlint import registry
from tfmemlint.verify.weighing import Settings, verify
from tfmemlint.vocabulary import Rule


def rules() -> Iterable[Rule]:
    try:
        return registry.load().values()
    except registry.BadRules as reason:
        if str(reason) == "no rules found":
            return ()
        raise


@pytest.mark.tensorflow
@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_the_fix_saves_what_the_rule_claims(rule: Rule) -> None:
    verdict = verify(rule, registry.folder(rule), Settings(runs=1))
    assert verdict.doubt is None
