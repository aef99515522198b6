"""Rules are found by what their modules say, and in doubt by what they do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint import Rule, registry
from tfmemlint.facts.library.words import PIPELINE_WORDS

SPELT = """
RULE = Rule(
    code="TFM901",
    name="greedy",
    claim=Claim(
        Metric.HOST_PEAK,
        at_most=0.5,
        because="a # is no triggers=(, and ends nothing",
    ),
    triggers=(
        "spam eggs "  # "neither" counts
        "ham",
        PIPELINE_WORDS,
        "for",
    ),
    check=check,
)
"""
MODULE = f'''
from tfmemlint import Claim, Metric, Rule
from tfmemlint.facts.library.words import PIPELINE_WORDS

BEFORE = """{SPELT.replace("spam", "too early")}"""


def check(file):
    return ()


ALSO = {{"triggers": ("spam",)}}
{SPELT}'''
OUTLINE = ("TFM901", "greedy", ("spam eggs ham", PIPELINE_WORDS, "for"))


def test_the_built_in_rules_are_what_they_spell_out_and_none_is_imported_for_that() -> None:
    program = (
        "import sys; from tfmemlint import registry; outlines = registry.outlines();"
        "print(*sys.modules); rules = registry.load(); assert [*outlines] == [*rules];"
        "assert all(registry.outline(each)[:4] == outlines[each.code][:4]"
        " and outlines[each.code].load() is each for each in rules.values()); print(len(rules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    modules, rules, *_ = *done.stdout.splitlines(), done.stderr

    assert not [each for each in modules.split() if each.startswith("tfmemlint_rules.")]
    assert int(rules) > 30


def spelt_out(module: str, folder: Path) -> tuple[object, ...] | None:
    path = folder / "module.py"
    path.write_text(module, encoding="utf-8")
    outline: registry.Outline | None = vars(registry)["_spelt_out"]("module", str(path))
    return outline and outline[:3]


def test_what_a_module_spells_out_is_what_it_makes(tmp_path: Path) -> None:
    made: dict[str, object] = {}
    exec(MODULE, made)
    rule = made["RULE"]

    assert isinstance(rule, Rule)
    assert OUTLINE == registry.outline(rule)[:3] == spelt_out(MODULE, tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("RULE = Rule(", "RULE: Rule = Rule("),
        ("\nRULE", "\nif True:\n    RULE"),
        (",\n)\n", ',\n)\nRULE = RULE._replace(triggers=("spam",))\n'),
        (",\n)\n", ',\n)\nRULE = Rule(*RULE[:3], ("spam",), check)\n'),
        (",\n)\n", ",\n)\nif not ALSO:\n    RULE = None\n"),
        (",\n)\n", ',\n)\n"""\nRULE = "spam"\n"""\n'),
        (",\n)\n", ",\n), *ALSO\n"),
        (",\n)\n", ",\n    **ALSO,\n)\n"),
        ("    check=check,\n", ""),
        ("    check=check,\n", "    check=check,\n    speed=5,\n"),
        ('"TFM901"', "CODE"),
        ('"for"', "*ALSO"),
        ('"for"', 'ALSO["triggers"]'),
        ("PIPELINE_WORDS,\n        ", "NO_SUCH_WORDS,\n        "),
    ],
)
def test_what_takes_more_than_one_statement_is_left_to_python(
    tmp_path: Path, old: str, new: str
) -> None:
    before, found, after = MODULE.rpartition(old)

    assert found
    assert spelt_out(before + new + after, tmp_path) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (",\n)\n", ',\n)._replace(triggers=("spam",))\n'),
        (",\n)\n", ",\n\n)\n"),
        ('"TFM901"', "'TFM901'"),
        ('"for",\n    )', '"for",\n    ) + ("while",)'),
        ('"for"', r'r"f" "\x6f" "r"'),
        ('"for"', '"""for"""'),
        ('"for"', '"a  # b", "c"'),
    ],
)
def test_however_a_rule_is_spelt_it_is_what_python_makes_of_it(
    tmp_path: Path, old: str, new: str
) -> None:
    before, found, after = MODULE.rpartition(old)
    module = before + new + after
    made: dict[str, object] = {}
    exec(module, made)
    rule = made["RULE"]

    assert found
    assert isinstance(rule, Rule)
    assert registry.outline(rule)[:3] == spelt_out(module, tmp_path)
