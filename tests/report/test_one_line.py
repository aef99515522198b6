"""The formats of one line a finding: `concise`, `pylint`, `github`; and `grouped`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.vocabulary import Applicability, Cell, Checked, Diagnostic, Finding, Span

Render = Callable[..., str]
Found = Callable[..., Finding]

TEXT = "x = 1\ny = bad(\n    x)\n"
NOTEBOOK = "x = 1\ny = 2\nz = bad(y)\n"
CELLS = (Cell(0, 1), Cell(6, 3))


def test_concise_is_what_editors_read(render: Render, found: Found) -> None:
    finding = found(TEXT, "bad", replacements=[("bad", "good")])

    assert (
        render("concise", Checked("a b/é.py", TEXT, (finding,)))
        == "a b/é.py:2:5: TFM202 [*] buffers batches\n"
    )


def test_an_unsafe_fix_has_its_star_only_with_unsafe_fixes(render: Render, found: Found) -> None:
    finding = found(TEXT, "bad", replacements=[("bad", "good")], applicability=Applicability.UNSAFE)
    results = Checked("a.py", TEXT, (finding,))

    assert render("concise", results) == "a.py:2:5: TFM202 buffers batches\n"
    assert render("concise", results, unsafe_fixes=True) == "a.py:2:5: TFM202 [*] buffers batches\n"


def test_a_notebook_position_names_the_cell_and_counts_in_it(render: Render, found: Found) -> None:
    results = Checked("n.ipynb", NOTEBOOK, (found(NOTEBOOK, "bad"),), CELLS)

    assert render("concise", results) == "n.ipynb:cell 3:2:5: TFM202 buffers batches\n"


def test_the_patterns_of_vim_and_vs_code_take_concise_apart(render: Render, found: Found) -> None:
    line = render("concise", Checked("a: b.py", TEXT, (found(TEXT, "bad", "m: n"),))).rstrip("\n")

    match = re.fullmatch(r"(.+?):(\d+):(\d+):\s+([A-Z]+\d+)\s+(?:\[\*\]\s+)?(.*)", line)

    assert match
    assert match.groups() == ("a: b.py", "2", "5", "TFM202", "m: n")


def test_pylint_has_the_row_the_code_and_the_name(render: Render, found: Found) -> None:
    results = [
        Checked("a.py", TEXT, (found(TEXT, "bad"),)),
        Checked("n.ipynb", NOTEBOOK, (found(NOTEBOOK, "bad"),), CELLS),
    ]
    expected = (
        "a.py:2: [TFM202(shuffle-after-batch)] buffers batches\n"
        "n.ipynb:1: [TFM202(shuffle-after-batch)] buffers batches\n"
    )

    assert expected == render("pylint", *results)


def test_grouped_lines_up_positions_under_the_file(render: Render, found: Found) -> None:
    text = "\n" * 9 + "bad; worse\n"
    findings = (found(text, "bad"), found(text, "worse", replacements=[("worse", "")]))
    expected = (
        "a.py:\n  10:1 TFM202 buffers batches\n  10:6 TFM202 [*] buffers batches\n\n"
        "b.py:\n  1:1 TFM202 buffers batches\n\n"
    )

    assert expected == render(
        "grouped", Checked("a.py", text, findings), Checked("b.py", "x", (found("x", "x"),))
    )


def test_a_github_command_has_the_place_relative_to_the_root(
    render: Render, found: Found, tmp_path: Path
) -> None:
    finding = found(TEXT, "bad", replacements=[("bad", "good")])
    results = Checked(str(tmp_path / "pkg" / "a.py"), TEXT, (finding,))
    expected = (
        "::warning title=tfmemlint (TFM202),file=pkg/a.py,line=2,col=5,endLine=2,endColumn=8"
        "::pkg/a.py:2:5: TFM202 buffers batches%0A  help: Shuffle before batching"
        "%0A  measured: device peak 2 MB -> 1 MB\n"
    )

    assert expected == render(
        "github", results, root=str(tmp_path), measured={"TFM202": "device peak 2 MB -> 1 MB"}
    )


def test_standard_input_keeps_its_name(render: Render, found: Found) -> None:
    results = Checked("-", TEXT, (found(TEXT, "bad"),))

    assert "file=-,line=2," in render("github", results, root="/elsewhere")
    assert render("concise", results).startswith("-:2:5: ")


def test_a_github_command_for_several_lines_has_no_columns(render: Render, found: Found) -> None:
    results = Checked("a.py", TEXT, (found(TEXT, "bad(\n    x)"),))

    assert ",line=2,endLine=3::" in render("github", results)


def test_a_github_command_for_a_notebook_points_at_the_file_and_names_the_cell(
    render: Render, found: Found
) -> None:
    results = Checked("n.ipynb", NOTEBOOK, (found(NOTEBOOK, "bad"),), CELLS)

    line = render("github", results)

    assert "file=n.ipynb,line=1,col=1,endLine=1,endColumn=1::n.ipynb:cell 3:2:5: TFM202" in line


def test_github_hears_of_errors_first(render: Render, found: Found) -> None:
    broken = Finding("TFM002", "syntax-error", Diagnostic(Span(0, 1), "invalid syntax"))
    results = [
        Checked("a.py", TEXT, (found(TEXT, "bad"),)),
        Checked("b.py", "(", (broken,)),
        Checked("c.py", TEXT, (found(TEXT, "bad"),)),
    ]

    lines = render("github", *results).splitlines()

    assert [line.split()[0] for line in lines] == ["::error", "::warning", "::warning"]
    assert re.findall(r"file=(\w\.py)", "\n".join(lines)) == ["b.py", "a.py", "c.py"]


@pytest.mark.parametrize(
    ("path", "file"),
    [("a:b,c%.py", "a%3Ab%2Cc%25.py"), ("a\nb\r.py", "a%0Ab%0D.py"), ("plain.py", "plain.py")],
)
def test_github_properties_are_escaped_as_the_runner_unescapes_them(
    render: Render, found: Found, path: str, file: str
) -> None:
    text = render("github", Checked(path, TEXT, (found(TEXT, "bad"),)))

    assert f",file={file},line=" in text
    assert text.count("\n") == 1


def test_a_file_named_like_a_workflow_command_does_not_begin_a_line(
    render: Render, found: Found
) -> None:
    results = Checked("::warning file=x::INJECTED.py", TEXT, (found(TEXT, "bad"),))

    for output_format in ("full", "concise", "grouped", "pylint"):
        lines = render(output_format, results).splitlines()

        assert [line for line in lines if line.lstrip().startswith("::")] == []


def test_no_findings_are_no_lines(render: Render) -> None:
    for output_format in ("full", "concise", "grouped", "pylint", "github", "json-lines"):
        assert render(output_format, Checked("a.py", TEXT)) == ""
