"""The programs of the documents that the advice in rules/README.md is about, where they are."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tfmemlint import pages, registry
from tfmemlint.cli import main
from tfmemlint.verify.benches import Bench
from tfmemlint.verify.own import Request, Unmended, mend, weigh
from tfmemlint.verify.weighing import Settings
from tfmemlint.vocabulary import Metric

ROOT = Path(__file__).parent.parent
FOLDER = ROOT.parent / "shared" / "seeds"
TABLE: list[dict[str, Any]] = json.loads((ROOT / "rules" / "advice.json").read_text("utf-8"))[
    "documents"
]
PROGRAM = re.compile(r"```python\n(.*?)```", re.DOTALL)

each_document = pytest.mark.parametrize("document", TABLE, ids=lambda each: each["id"])


def programs(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The programs of a document by their numbers; none where the documents are not at hand."""
    for path in FOLDER.glob(f"{document['id']}_*.txt"):
        found = PROGRAM.findall(path.read_text("utf-8", errors="replace"))
        yield from ((str(number), program) for number, program in enumerate(found, 1))


@each_document
def test_each_program_of_a_document_has_the_findings_of_the_table(
    document: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found: dict[str, list[str]] = {}
    for number, program in programs(document):
        path = tmp_path / f"{number}.py"
        path.write_text(program, "utf-8")
        main(["check", "--isolated", "--output-format", "json", "--min-bytes", "0", str(path)])
        findings = json.loads(capsys.readouterr().out)
        found[number] = sorted(each["code"] for each in findings)
    if not found:
        pytest.skip("the documents are not here")

    assert found == document["programs"]


@each_document
def test_what_is_found_in_a_document_is_told_of_in_its_table(document: dict[str, Any]) -> None:
    told = {code for each in document["advice"] for code in each["rules"]}
    found = {code for codes in document["programs"].values() for code in codes}

    assert found <= told


@each_document
def test_each_piece_of_advice_is_ruled_on(document: dict[str, Any]) -> None:
    rules = registry.load()
    assert document["ran"].keys() == document["programs"].keys()
    for each in document["advice"]:
        assert each["verdict"] in ("right", "half", "wrong", "harmless", "not tried")
        assert each["rules"] or each["why"]
        assert set(each["rules"]) <= set(rules)


def test_the_table_is_part_of_the_page_of_all_rules() -> None:
    text = pages.documents(ROOT / "rules" / "advice.json", registry.load())

    assert (ROOT / "rules" / "README.md").read_text("utf-8").endswith(text)
    assert all(f"## {each['id']}: {each['about']}" in text for each in TABLE)


def test_a_checkout_without_documents_has_no_table(tmp_path: Path) -> None:
    assert pages.documents(tmp_path / "advice.json", {}) == ""


def _measured() -> Iterator[object]:
    """Each program that runs, and has something to fix."""
    for document in TABLE:
        for number, told in document["ran"].items():
            if not isinstance(told, str):
                yield pytest.param(document, number, id=f"{document['id']}-{number}")


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.parametrize(("document", "number"), list(_measured()))
def test_what_its_fixes_save_is_measured_of_a_program_that_runs(
    document: dict[str, Any], number: str, tmp_path: Path, own_bench: Bench
) -> None:
    """As `verify --unsafe-fixes` has it where nothing is too small to speak of."""
    known = dict(programs(document))
    if not known:
        pytest.skip("the documents are not here")
    path = tmp_path / f"{number}.py"
    path.write_text(known[number], "utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.tfmemlint]\nmin-bytes = 0\n", "utf-8")
    request = Request(str(path), unsafe=True)
    mended = mend(request)
    assert not isinstance(mended, Unmended)
    told = document["ran"][number]
    metrics = [Metric(name) for name in told]
    settings = Settings(device="cpu", seconds=3600)
    saving = weigh(
        request,
        mended,
        settings,
        lambda _: None,
        own_bench.run,
        look=lambda *_: None,
        metrics=metrics,
    )
    found = {
        one.metric.value: [round(one.bad_figure), round(one.fixed_figure)]
        for one in saving.measurements
    }
    print(document["id"], number, json.dumps(found))

    assert found.keys() == told.keys()
    for name, (before, after) in told.items():
        for figure, expected in zip(found[name], (before, after), strict=True):
            assert abs(figure - expected) <= 0.1 * expected + _SLACK


_SLACK = 4 << 20
"""Bytes by which a program that holds next to nothing may be off."""
