"""What is written about rules, and `tfmemlint rule`."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint import pages, registry
from tfmemlint.vocabulary import Rule

MODULE = '''"""`hoard` keeps every batch | for ever. It never lets go.

## What it finds
A list that grows.

## Why it costs memory
It grows.

## What to do instead
Keep the mean.

## Fix safety
{safety}

## When to ignore it
Never.
"""

from tfmemlint import Claim, Metric, Rule


def check(file):
    return ()


RULE = Rule("{code}", "{name}", Claim(Metric.DEVICE_PEAK, 0.5, "only the mean is kept"), (), check)
'''
BAD = """\
import tensorflow as tf

STEPS = 60  # scales
kept = []
for _ in range(STEPS):
    kept.append(tf.ones([256, 1024]))  # want SPA101 "keeps every batch"
print(len(kept))  # step
"""
FIXED = """\
import tensorflow as tf

STEPS = 60  # scales
kept = 0
for _ in range(STEPS):
    kept += 1
print(kept)  # step
"""
FIGURES: dict[str, Any] = {
    "claim": {"at_most": 0.5, "doubt": None, "holds": True, "metric": "device peak"},
    "date": "2026-11-18",
    "device": {"kind": "cpu", "name": "A Processor"},
    "metrics": {
        "device peak": {
            "bad": {"figure": 167 << 20, "runs": [167 << 20]},
            "fixed": {"figure": 66 << 20, "runs": [66 << 20]},
            "meter": "TensorFlow's allocator",
            "ratio": 0.3952,
            "unit": "bytes",
        },
        "host growth": {
            "bad": {"figure": 2048, "runs": [2048]},
            "fixed": {"figure": 0, "runs": [0]},
            "meter": "RssAnon",
            "ratio": None,
            "unit": "bytes per step",
        },
    },
    "runs": 3,
    "same_output": True,
    "versions": {"python": "3.11.7", "tensorflow": "2.21.0"},
}


def _built_in() -> list[Rule]:
    try:
        return list(registry.load().values())
    except registry.BadRules:
        return []


each_rule = pytest.mark.parametrize("rule", _built_in(), ids=lambda rule: rule.code)


@pytest.fixture(scope="module")
def spare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Rule]]:
    """The rules of an installed pack called `spare`, with their fixtures beside it."""
    root = tmp_path_factory.mktemp("spare")
    pack, info = root / "rules" / "spare_rules", root / "rules" / "spare_rules-1.0.dist-info"
    for folder in (pack, info, root / "fixtures" / "SPA101"):
        folder.mkdir(parents=True)
    (pack / "__init__.py").write_text('"""Spare rules."""\n')
    for code, name, safety in (
        ("SPA101", "kept-batches", "Unsafe: only the mean is printed."),
        ("SPA102", "kept-losses", "Safe: the same values."),
        ("SPA103", "kept-models", "None: what to keep is not for a tool to say."),
    ):
        text = MODULE.format(code=code, name=name, safety=safety)
        (pack / f"{code.lower()}_{name.replace('-', '_')}.py").write_text(text)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: spare-rules\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tfmemlint.rules]\nspare = spare_rules\n")
    _write_programs(root / "fixtures" / "SPA101", FIGURES)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(root / "rules"), *sys.path])
        yield {
            code: rule for code, rule in registry.load(["spare"]).items() if code.startswith("SPA")
        }


def _write_programs(folder: Path, figures: object = None) -> Path:
    (folder / "bad.py").write_text(BAD)
    (folder / "fixed.py").write_text(FIXED)
    if figures is not None:
        (folder / "measured.json").write_text(json.dumps(figures))
    return folder


def test_a_page_has_the_rule_its_example_and_its_figures(spare: dict[str, Rule]) -> None:
    rule = spare["SPA101"]
    expected = """\
# SPA101 kept-batches

`hoard` keeps every batch | for ever. It never lets go.

It has an unsafe fix, which `--fix --unsafe-fixes` applies.

## What it finds
A list that grows.

## Why it costs memory
It grows.

## What to do instead
Keep the mean.

## Fix safety
Unsafe: only the mean is printed.

## When to ignore it
Never.

## Example

```diff
 import tensorflow as tf

 STEPS = 60
-kept = []
+kept = 0
 for _ in range(STEPS):
-    kept.append(tf.ones([256, 1024]))
-print(len(kept))
+    kept += 1
+print(kept)
```

## Measured

Claimed: device peak after / before <= 0.5, because only the mean is kept.

| | before | after | ratio |
|---|---|---|---|
| device peak | 167 MB | 66 MB | 0.40 |
| host growth a step | 2.0 KB | 0 B |  |

3 runs on 2026-11-18 on A Processor, with python 3.11.7, tensorflow 2.21.0.
"""

    assert expected == pages.rule_page(rule, registry.folder(rule))


@pytest.mark.parametrize(
    ("code", "safety", "words"),
    [
        ("SPA101", "unsafe", "It has an unsafe fix, which `--fix --unsafe-fixes` applies."),
        ("SPA102", "safe", "It has a safe fix, which `--fix` applies."),
        ("SPA103", "none", "It has no fix."),
    ],
)
def test_the_page_says_how_safe_the_fix_is(
    spare: dict[str, Rule], tmp_path: Path, code: str, safety: str, words: str
) -> None:
    rule = spare[code]

    assert safety == pages.fix_safety(rule)
    assert words in pages.rule_page(rule, tmp_path)


def test_a_rule_without_a_folder_has_a_page_and_says_it_was_not_measured(
    spare: dict[str, Rule], tmp_path: Path
) -> None:
    page = pages.rule_page(spare["SPA101"], tmp_path / "nowhere")

    assert "## Example" not in page
    assert page.endswith("Not measured yet: it comes with no programs.\n")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"claim": 1}', '{"metrics": {}}', "\xff"]
)
def test_figures_that_cannot_be_read_are_none(
    spare: dict[str, Rule], tmp_path: Path, content: str
) -> None:
    _write_programs(tmp_path).joinpath("measured.json").write_bytes(content.encode("latin-1"))

    page = pages.rule_page(spare["SPA101"], tmp_path)

    assert pages.phrase(tmp_path) is None
    assert "Not measured yet" in page
    assert "| before |" not in page


@pytest.mark.parametrize(
    ("times", "read", "words"),
    [
        (0, {}, "In 90 public repositories it never spoke (2026-11-18)."),
        (
            7,
            {"worth": 3, "little": 0, "wrong": 1},
            "In 90 public repositories it spoke 7 times, in 2 of them (2026-11-18). Of 4 drawn by"
            " chance and read, 3 were right and worth a reviewer's time, 1 was wrong.",
        ),
        (1, {"worth": 0}, "In 90 public repositories it spoke once, in 2 of them (2026-11-18)."),
    ],
)
def test_a_page_says_how_often_its_rule_spoke_on_public_code(
    spare: dict[str, Rule], tmp_path: Path, times: int, read: dict[str, int], words: str
) -> None:
    figures = {"date": "2026-11-18", "repositories": 90, "findings": times, "in_repositories": 2}
    (tmp_path / "public.json").write_text(json.dumps({**figures, "read": read}))

    page = pages.rule_page(spare["SPA101"], tmp_path)

    assert page.endswith(f"## On public code\n\n{words}\n")


def test_a_page_says_why_a_rule_stays_that_never_spoke(
    spare: dict[str, Rule], tmp_path: Path
) -> None:
    figures = {"date": "2026-11-18", "repositories": 90, "findings": 0, "in_repositories": 0}
    why = {"kept": "it grows without end", "read": {}}
    (tmp_path / "public.json").write_text(json.dumps({**figures, **why}))

    page = pages.rule_page(spare["SPA101"], tmp_path)

    assert page.endswith("It stays for what the pattern costs: it grows without end.\n")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"findings": 1, "read": 2}'])
def test_what_cannot_be_read_of_public_code_is_left_out(
    spare: dict[str, Rule], tmp_path: Path, content: str
) -> None:
    (tmp_path / "public.json").write_text(content)

    assert "public" not in pages.rule_page(spare["SPA101"], tmp_path)


def test_how_the_programs_grow_and_where_one_dies_is_told(
    spare: dict[str, Rule], tmp_path: Path
) -> None:
    scaling = {
        "bad": {"exponent": 1.0, "figures": [84 << 20, 167 << 20, 334 << 20], "grows": "linear"},
        "factors": [0.5, 1.0, 2.0],
        "fixed": {"exponent": 0.0, "figures": [66 << 20] * 3, "grows": "constant"},
        "metric": "device peak",
    }
    short = {"death": "ResourceExhaustedError", "limit": 96 << 20, "unit": "bytes"}
    _write_programs(tmp_path, {**FIGURES, "scaling": scaling, "out_of_memory": short})

    page = pages.rule_page(spare["SPA101"], tmp_path)

    assert (
        "With half, all and twice the data, device peak:\n"
        "84 MB, 167 MB, 334 MB before (linear),\n"
        "66 MB, 66 MB, 66 MB after (constant).\n\n"
        "On a device of 96 MB only the fixed program\n"
        "finishes; the other dies of ResourceExhaustedError.\n"
    ) in page


def test_what_was_measured_before_the_rest_says_when(
    spare: dict[str, Rule], tmp_path: Path
) -> None:
    short = {"date": "2026-11-17", "death": "SIGSEGV", "limit": 96 << 20, "unit": "bytes"}
    _write_programs(tmp_path, {**FIGURES, "out_of_memory": short})

    page = pages.rule_page(spare["SPA101"], tmp_path)

    assert "finishes; the other dies of SIGSEGV (2026-11-17).\n" in page


def test_what_the_code_says_stands_below_what_was_measured(
    spare: dict[str, Rule], tmp_path: Path
) -> None:
    taken = FIGURES["metrics"]["device peak"]
    bad = {**taken, "bad": {**taken["bad"], "predicted": 160 << 20}}
    _write_programs(tmp_path, {**FIGURES, "metrics": {"device peak": bad}})

    page = pages.rule_page(spare["SPA101"], tmp_path)

    assert (
        "| device peak | 167 MB | 66 MB | 0.40 |\n| predicted from the code | 160 MB |  | |\n"
    ) in page


def test_what_is_claimed_of_growth_is_told(spare: dict[str, Rule], tmp_path: Path) -> None:
    rule = spare["SPA101"]
    grows = rule._replace(claim=rule.claim._replace(grows=("linear", "constant")))
    sentence = "As the data grows, what is measured is linear before and constant after.\n"

    assert sentence in pages.rule_page(grows, tmp_path)
    assert sentence not in pages.rule_page(rule, tmp_path)


def test_a_claim_that_does_not_hold_is_admitted(spare: dict[str, Rule], tmp_path: Path) -> None:
    doubt = "the ratio is 0.900, more than the 0.5 claimed"
    claim = {**FIGURES["claim"], "holds": False, "doubt": doubt}
    _write_programs(tmp_path, {**FIGURES, "claim": claim})

    assert f"So the claim does not hold: {doubt}.\n" in pages.rule_page(spare["SPA101"], tmp_path)
    assert pages.phrase(tmp_path) is None


def test_the_phrase_is_the_claimed_metric_in_words(tmp_path: Path) -> None:
    assert pages.phrase(_write_programs(tmp_path, FIGURES)) == "device peak 167 MB -> 66 MB"


def test_the_index_has_a_row_a_rule(spare: dict[str, Rule]) -> None:
    [*_, first, second, third] = pages.index(spare).splitlines()

    assert first == (
        "| SPA101 `kept-batches` "
        "| `hoard` keeps every batch \\| for ever | unsafe "
        "| device peak 167 MB -> 66 MB |"
    )
    assert "| safe |  |" in second
    assert "| none |  |" in third


def test_the_table_of_the_readme_stands_between_its_marks(spare: dict[str, Rule]) -> None:
    lines = pages.readme_table(spare).splitlines()

    assert (lines[0], lines[-1]) == (pages.BEGIN, pages.END)
    assert any(line.startswith("| SPA101 `kept-batches` |") for line in lines)


@pytest.mark.parametrize("asked", ["SPA101", "spa101", "kept-batches", "Kept-Batches"])
def test_a_rule_is_explained_by_code_or_name(
    spare: dict[str, Rule], capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    status = pages.main([asked], ["spare"])

    rule = spare["SPA101"]
    expected = pages.rule_page(rule, registry.folder(rule))
    assert (status, expected) == (0, capsys.readouterr().out)


@pytest.mark.parametrize(
    ("asked", "nearest"),
    [
        ("SPA1011", "; did you mean SPA101 (kept-batches)?"),
        ("kept-batch", "; did you mean SPA101 (kept-batches)?"),
        ("sintax-error", "; did you mean TFM002 (syntax-error)?"),
        ("zzzzzzzzzzzz", ""),
    ],
)
@pytest.mark.usefixtures("spare")
def test_an_unknown_rule_is_refused_with_the_nearest(
    capsys: pytest.CaptureFixture[str], asked: str, nearest: str
) -> None:
    status = pages.main([asked], ["spare"])

    captured = capsys.readouterr()
    assert (status, captured.out) == (2, "")
    assert captured.err == f"error: there is no rule {asked!r}{nearest}\n"


@pytest.mark.usefixtures("spare")
def test_json_has_the_fields_of_ruff_and_the_measurement(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pages.main(["SPA101", "--output-format", "json"], ["spare"])

    record = json.loads(capsys.readouterr().out)
    explanation = record.pop("explanation")
    assert explanation.startswith("`hoard` keeps every batch")
    assert record == {
        "name": "kept-batches",
        "code": "SPA101",
        "linter": "tfmemlint",
        "summary": "`hoard` keeps every batch | for ever",
        "fix": "Fix is sometimes available.",
        "fix_availability": "Sometimes",
        "fix_safety": "unsafe",
        "preview": False,
        "claim": {
            "metric": "device peak",
            "at_most": 0.5,
            "because": "only the mean is kept",
            "grows": None,
            "of_host": False,
        },
        "measured": "device peak 167 MB -> 66 MB",
    }


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        ("TFM001", "Fix is not available."),
        ("TFM002", "Fix is not available."),
        ("TFM005", "Fix is sometimes available."),
    ],
)
@pytest.mark.usefixtures("spare")
def test_codes_of_the_engine_are_explained_too(
    capsys: pytest.CaptureFixture[str], code: str, fix: str
) -> None:
    assert pages.main([code], ["spare"]) == 0
    assert capsys.readouterr().out.startswith(f"# {code} ")

    assert pages.main([code, "--output-format", "json"], ["spare"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert (fix, None) == (record["fix"], record["claim"])


def test_all_are_explained_in_order(
    spare: dict[str, Rule], capsys: pytest.CaptureFixture[str]
) -> None:
    pages.main(["--all", "--output-format", "json"], ["spare"])
    codes = [record["code"] for record in json.loads(capsys.readouterr().out)]
    pages.main(["--all"], ["spare"])
    text = capsys.readouterr().out

    assert {"TFM001", "TFM005", *spare} <= set(codes)
    assert codes == [line.split()[1] for line in text.splitlines() if line.startswith("# ")]


@pytest.mark.parametrize(
    "arguments", [[], ["TFM001", "--all"], ["--output-format", "xml", "--all"]]
)
def test_a_question_that_makes_no_sense_is_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        pages.main(arguments)

    assert stopped.value.code == 2
    assert "usage: tfmemlint rule" in capsys.readouterr().err


def test_a_missing_pack_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert pages.main(["TFM001"], ["no-such-pack"]) == 2
    assert "no-such-pack" in capsys.readouterr().err


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A README with marks and a folder for the index."""
    (tmp_path / "rules").mkdir()
    (tmp_path / "README.md").write_text(f"# A\n\n{pages.BEGIN}\nold\n{pages.END}\n\nThe end.\n")
    return tmp_path


def _generate(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tfmemlint.pages", *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)


def test_a_checkout_is_renewed_once_and_then_fresh(checkout: Path) -> None:
    stale = _generate(checkout, "--check")
    untouched = (checkout / "README.md").read_text()
    written = _generate(checkout)
    fresh = _generate(checkout, "--check")
    again = _generate(checkout)

    files = ("rules/README.md", "README.md", "rules/savings.svg", "rules/savings-dark.svg")
    assert (stale.returncode, stale.stdout) == (1, "".join(f"{name} is stale\n" for name in files))
    assert "\nold\n" in untouched
    assert (written.returncode, written.stdout) == (
        0,
        "".join(f"{name} written\n" for name in files),
    )
    assert [(run.returncode, run.stdout) for run in (fresh, again)] == [(0, ""), (0, "")]
    readme = (checkout / "README.md").read_text()
    rules = registry.load()
    assert readme == f"# A\n\n{pages.readme_table(rules)}\n\nThe end.\n"
    assert (checkout / "rules" / "README.md").read_text() == pages.index(rules)
    picture = (checkout / "rules" / "savings.svg").read_text()
    assert "<svg " in picture
    assert set(rules) == set(re.findall(r"<!-- (TFM\d{3}) -->", picture))


@pytest.mark.parametrize("readme", ["# A\n", f"{pages.BEGIN}\n", f"{pages.END}\n{pages.BEGIN}\n"])
def test_a_readme_without_marks_is_left_alone(checkout: Path, readme: str) -> None:
    (checkout / "README.md").write_text(readme)

    refused = _generate(checkout)

    assert refused.returncode == 2
    assert pages.BEGIN in refused.stderr
    assert readme == (checkout / "README.md").read_text()


def test_outside_a_checkout_nothing_is_written(tmp_path: Path) -> None:
    refused = _generate(tmp_path)

    assert refused.returncode == 2
    assert "README.md" in refused.stderr
    assert list(tmp_path.iterdir()) == []


@each_rule
def test_the_page_of_each_rule_is_whole(rule: Rule) -> None:
    page = pages.rule_page(rule, registry.folder(rule))
    example = page.partition("```diff\n")[2].partition("```\n")[0]

    assert page.startswith(f"# {rule.code} {rule.name}\n\n")
    marks = {line[:1] for line in example.splitlines()}
    assert " " in marks
    assert not marks.isdisjoint("-+")
    assert "# want" not in page
    assert page.count("\n## ") == 8
    assert "\n\n## On public code\n\nIn " in page


@each_rule
def test_the_page_says_where_a_fix_is_offered_or_is_not(rule: Rule) -> None:
    module = inspect.getsource(sys.modules[rule.check.__module__])
    safety = rule.page.partition("## Fix safety")[2].partition("\n## ")[0]

    assert "offered" in safety.casefold() or " Fix(" not in module


@each_rule
def test_the_row_of_each_rule_has_four_cells(rule: Rule) -> None:
    row = pages.index({rule.code: rule}).splitlines()[-1]

    assert row.replace("\\|", "").count("|") == 5
    assert f"/rules/{rule.code}/) `{rule.name}` |" in row
