"""The rules of the pack, held to their fixtures."""

from tfmemlint.testing import Case, parametrized


@parametrized("acme")
def test_rules(case: Case) -> None:
    case.check()
