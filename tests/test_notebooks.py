"""The Python of notebooks: what is read of it, which fixes it takes, and what they leave alone."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint import notebooks
from tfmemlint.decoding import UndecodableError
from tfmemlint.vocabulary import Applicability, Cell, Edit, Fix, Span

PYTHON = {"kernelspec": {"language": "python", "name": "python3"}}


def cell(source: object, kind: str = "code") -> dict[str, Any]:
    return {"cell_type": kind, "metadata": {}, "outputs": [], "source": source}


def lines(source: str) -> list[str]:
    """A source as most programs write it."""
    return re.findall(r"[^\n]*\n|[^\n]+", source)


def document(*sources: str | dict[str, Any], **parts: object) -> dict[str, Any]:
    """A notebook of these cells, which are code unless they say what they are."""
    cells = [cell(lines(each)) if isinstance(each, str) else each for each in sources]
    return {"cells": cells, "metadata": PYTHON, "nbformat": 4, "nbformat_minor": 5, **parts}


def notebook(*sources: str | dict[str, Any], **parts: object) -> bytes:
    return json.dumps(document(*sources, **parts), indent=1).encode() + b"\n"


def text_of(*sources: str) -> str:
    return notebooks.read(notebook(*sources)).text


def fix(*edits: tuple[int, int, str]) -> Fix:
    made = tuple(Edit(Span(start, end), text) for start, end, text in edits)
    return Fix("Try", made, Applicability.SAFE)


def mended(data: bytes, *edits: tuple[int, int, str]) -> bytes:
    """The notebook after edits that it allows one by one."""
    read = notebooks.read(data)
    assert all(notebooks.allows(read, fix(edit)) for edit in edits)
    return notebooks.edited(data, read, fix(*edits).edits)[0]


def sources_of(data: bytes) -> list[Any]:
    return [each["source"] for each in json.loads(data)["cells"]]


def replaced(data: bytes, old: str, new: str) -> bytes:
    """The notebook with one place in its text replaced."""
    text = notebooks.read(data).text
    assert text.count(old) == 1
    start = text.index(old)
    return mended(data, (start, start + len(old), new))


class TestReading:
    """What becomes of a notebook's cells."""

    def test_code_cells_stand_one_below_the_other(self) -> None:
        read = notebooks.read(notebook("a = 1\nb = 2", "c = 3\n", "d = 4"))

        assert read.text == "a = 1\nb = 2\nc = 3\nd = 4\n"
        assert read.cells == (Cell(0, 1), Cell(12, 2), Cell(18, 3))

    def test_cells_are_numbered_among_all_cells(self) -> None:
        data = notebook(cell("# Title", "markdown"), "a = 1", cell("x", "raw"), "", "b = 2")

        assert notebooks.read(data).cells == (Cell(0, 2), Cell(6, 5))

    def test_a_source_may_be_a_single_string(self) -> None:
        assert notebooks.read(notebook(cell("a = 1\nb = 2"))).text == "a = 1\nb = 2\n"

    @pytest.mark.parametrize(
        ("source", "text"),
        [
            ("%matplotlib inline\nx = 1", "pass\nx = 1\n"),
            ("x = 1\n%tensorflow_version 2.x", "x = 1\npass\n"),
            ("if x:\n    !ls\n\t\ny = 2", "if x:\n    pass\n\t\ny = 2\n"),
            ("!pip install a \\\n    b \\\n    c\nx = 1", "pass\n\n\nx = 1\n"),
            ("!!ls", "pass\n"),
            ("!echo \"it's (\nx = 1", "pass\nx = 1\n"),
            ("files = !ls *.py\nx = 1", "pass\nx = 1\n"),
            ("a, b = !ls", "pass\n"),
            ("took = %timeit -o f('a')", "pass\n"),
            ("?tf.data", "pass\n"),
            ("tf.data.Dataset??  \nx = 1", "pass\nx = 1\n"),
            ("tf.data.Dataset?", "pass\n"),
            ("%%time\nx = 1", "pass\nx = 1\n"),
            ("\n%%capture out --no-stderr\nx = 1", "\npass\nx = 1\n"),
            ("%%python3\nx = 1", "pass\nx = 1\n"),
            ("%load_ext a\r\nx = 1", "pass\r\nx = 1\n"),
            ("%cd a\rx = 1", "pass\rx = 1\n"),
            ("x = 1\n!ls \\", "x = 1\npass\n"),
        ],
    )
    def test_what_only_ipython_reads_does_nothing(self, source: str, text: str) -> None:
        assert text_of(source) == text
        assert text.count("\n") == len(source.splitlines()) or "\r" in source

    @pytest.mark.parametrize(
        "source",
        [
            'x = """\n%d items\n!\nhelp?\n"""',
            "x = '''it\\'''s\n!ls'''",
            "x = (a\n  % b)",
            "x = [\n  a,  # what?\n  b[0]\n  % c]",
            "x = a \\\n  % b",
            "x = 'a \\\n!ls'",
            "x = a  # really?",
            "x = a  # y = !ls",
            "# %magic",
            "x = 'a?'",
            'x = "y = !ls"',
            "a != b",
            "a %= b",
            "x = {'a': 1,\n'b' : 2}",
        ],
    )
    def test_what_looks_like_ipython_within_python_stays(self, source: str) -> None:
        assert text_of(source) == source + "\n"
        assert text_of(f"%time f()\n{source}\n!ls") == f"pass\n{source}\npass\n"

    @pytest.mark.parametrize(
        "magic",
        ["%%bash", "%%writefile a.py", "%%html", "%%javascript", "%%python2", "%%timeitnot", "%%R"],
    )
    def test_a_cell_in_another_language_is_left_out(self, magic: str) -> None:
        read = notebooks.read(notebook(f"{magic}\nx = 1", "y = 2"))

        assert read.text == "y = 2\n"
        assert read.cells == (Cell(0, 2),)

    @pytest.mark.parametrize(
        "broken",
        ["print 'a'", "model = # YOUR CODE HERE", "x = (", '"""', "x = 1 \\", "x = '\ud800'"],
    )
    def test_a_broken_cell_does_not_hide_the_others(self, broken: str) -> None:
        read = notebooks.read(notebook("a = 1", broken, ")", '"""', "b = 2"))

        assert read.text == "a = 1\nb = 2\n"
        assert read.cells == (Cell(0, 1), Cell(6, 5))

    def test_where_every_cell_is_broken_the_text_is_what_is_wrong(self) -> None:
        read = notebooks.read(notebook("%%bash\nls", "%cd a\nprint 'a'", "x = ("))

        assert read.text == "pass\nprint 'a'\nx = (\n"
        assert read.cells == (Cell(0, 2), Cell(15, 3))

    @pytest.mark.parametrize(
        ("source", "text"),
        [
            (" x = 1", "x = 1\n"),
            ("\n\n  x = 1\n  y = 2", "\n\nx = 1\ny = 2\n"),
            ("\tfor i in x:\n\t    print(i)\n!ls", "for i in x:\n    print(i)\npass\n"),
            ("  x = 1\n y = 2", ""),
        ],
    )
    def test_blanks_before_the_first_word_are_taken_from_all_lines(
        self, source: str, text: str
    ) -> None:
        assert text_of("import os", source) == f"import os\n{text}"

    def test_no_fix_is_made_in_lines_that_lost_their_blanks(self) -> None:
        read = notebooks.read(notebook(" x = 1", "y = 2"))

        assert not notebooks.allows(read, fix((0, 1, "z")))
        assert notebooks.allows(read, fix((6, 7, "z")))

    @pytest.mark.parametrize(
        "metadata",
        [
            {"kernelspec": {"language": "R"}},
            {"language_info": {"name": "julia"}},
            {"kernelspec": {"language": "scala"}, "language_info": {"name": "scala"}},
        ],
    )
    def test_of_a_notebook_in_another_language_nothing_is_read(
        self, metadata: dict[str, Any]
    ) -> None:
        assert notebooks.read(notebook("x = 1", metadata=metadata)) == ("", (), ())

    @pytest.mark.parametrize(
        "metadata",
        [
            {},
            None,
            [],
            {"kernelspec": None, "language_info": {"name": "python"}},
            {"kernelspec": {"language": "Python"}, "language_info": {"name": 3}},
            {"language_info": {"name": "python3"}},
        ],
    )
    def test_a_notebook_is_python_unless_it_says_otherwise(self, metadata: object) -> None:
        assert notebooks.read(notebook("x = 1", metadata=metadata)).text == "x = 1\n"

    def test_cells_that_are_nothing_known_are_passed_over(self) -> None:
        data = notebook(cells=[None, 1, [], {}, {"cell_type": "new"}, cell("x = 1")])

        assert notebooks.read(data) == ("x = 1\n", (Cell(0, 6),), ("x = 1",))

    def test_an_empty_notebook_is_read(self) -> None:
        assert notebooks.read(notebook()) == ("", (), ())

    @pytest.mark.parametrize(
        ("data", "why"),
        [
            (b"", "not valid JSON: Expecting value"),
            (b"{", "not valid JSON"),
            (notebook("x = 1")[:-20], "not valid JSON"),
            (b'{"a": "\n"}', "not valid JSON: Invalid control character"),
            (b"[" * 200_000, "nests too deeply"),
            (b'{"cells": ' * 200_000, "nests too deeply"),
            (b"\xff", "not valid utf-8 at byte 0"),
            ('{"nbformat": 4}'.encode("utf-16"), "not valid utf-8"),
            (b"[]", "not a notebook"),
            (b"4", "not a notebook"),
            (b"{}", "not a notebook"),
            (b'{"cells": []}', "not a notebook"),
            (b'{"nbformat": 4}', "not a notebook"),
            (b'{"nbformat": "4", "cells": []}', "not a notebook"),
            (b'{"nbformat": 4, "cells": {}}', "not a notebook"),
            (b'{"nbformat": 3, "worksheets": []}', "format 3"),
            (notebook("x = 1", nbformat=5), "format 5"),
            (notebook("x = 1", cell(None)), "source of cell 2 is not text"),
            (notebook(cell(["x = 1", 2])), "source of cell 1 is not text"),
            (notebook({"cell_type": "code"}), "source of cell 1 is not text"),
        ],
    )
    def test_what_cannot_be_read_is_said(self, data: bytes, why: str) -> None:
        with pytest.raises(UndecodableError, match=why):
            notebooks.read(data)

    def test_what_is_not_code_may_hold_anything(self) -> None:
        data = notebook(cell(None, "markdown"), "x = 1")

        assert notebooks.read(data).text == "x = 1\n"

    def test_code_that_nests_too_deeply_is_left_for_others_to_refuse(self) -> None:
        deep = "x = " + "-" * 100_000 + "1"

        assert text_of(deep, "y = 2") == f"{deep}\ny = 2\n"

    def test_long_lines_take_no_long_time(self) -> None:
        begun = process_time()
        for source in (
            " " * 10**6 + "!",
            "a" * 10**6 + "?(",
            "? " * 10**6 + "(",
            "'" * 10**6 + "!",
        ):
            assert text_of(source, "x = 1").endswith("x = 1\n")

        assert process_time() - begun < 5


class TestAllowing:
    """Which fixes can be made in the notebook itself."""

    SOURCES = ("import a", "x = 1\n%matplotlib inline\ny = 2", "for b in c:\n    d(b)", "z = 3")
    TEXT = "import a\nx = 1\npass\ny = 2\nfor b in c:\n    d(b)\nz = 3\n"
    READ = notebooks.read(notebook(*SOURCES))

    def span(self, old: str) -> tuple[int, int]:
        assert self.TEXT.count(old) == 1
        start = self.TEXT.index(old)
        return start, start + len(old)

    def test_the_text_is_what_the_following_is_about(self) -> None:
        assert self.READ.text == self.TEXT

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("1", "11"),
            ("x = 1\n", ""),
            ("x = 1\n", "x = 1\nw = 0\n"),
            ("y = 2\n", ""),
            ("y = 2\n", "y = 2\nw = 0\n"),
            ("2\n", "2  # why\n"),
            ("import a\n", ""),
            ("import a", ""),
            ("    d(b)\n", "    d(b)\n    del b\n"),
            ("for b in c:\n    d(b)\n", "if e:\n    for b in c:\n        d(b)\n"),
        ],
    )
    def test_a_fix_may_change_the_python_of_a_cell(self, old: str, new: str) -> None:
        assert notebooks.allows(self.READ, fix((*self.span(old), new)))

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ("pass", "None"),
            ("pass", ""),
            ("pass\n", "pass\n"),
            ("pass\n", ""),
            ("x = 1\npass\n", ""),
            ("1\npass\ny", "y"),
            ("1\n", "1"),
            ("1\np", "1\np"),
            ("d(b)\nz = 3\n", "d(b)\n"),
            ("import a\nx", "x"),
            ("import a\nx = 1\n", ""),
            ("y = 2\n", "y = 2"),
            ("2\nfor", "2\nfor"),
            ("    d(b)\n", ""),
            ("y = 2", "y = 2 ("),
            ("x = 1", "%magic"),
        ],
    )
    def test_a_fix_of_more_than_that_is_refused(self, old: str, new: str) -> None:
        assert not notebooks.allows(self.READ, fix((*self.span(old), new)))

    def test_an_insertion_may_stand_beside_what_is_not_python(self) -> None:
        start, end = self.span("pass\n")

        assert notebooks.allows(self.READ, fix((start, start, "w = 0\n")))
        assert notebooks.allows(self.READ, fix((end, end, "w = 0\n")))
        assert not notebooks.allows(self.READ, fix((start + 1, start + 1, "w = 0\n")))
        assert not notebooks.allows(self.READ, fix((start, start, "w = 0;")))
        assert not notebooks.allows(self.READ, fix((end - 1, end - 1, "  # why")))

    def test_an_insertion_may_begin_with_space_at_the_very_start(self) -> None:
        assert notebooks.allows(self.READ, fix((0, 0, "\n")))
        assert not notebooks.allows(self.READ, fix((0, 0, " ")))

    def test_a_fix_may_have_edits_in_several_cells(self) -> None:
        assert notebooks.allows(self.READ, fix((*self.span("a\n"), "e\n"), (*self.span("3"), "4")))

    def test_all_edits_of_a_fix_are_asked(self) -> None:
        broken = (*self.span("pass"), "None")

        assert not notebooks.allows(self.READ, fix((*self.span("3"), "4"), broken))

    def test_cells_have_to_be_sound_one_by_one(self) -> None:
        together = fix((*self.span("z = 3"), ")"), (*self.span("d(b)"), "d(b"))

        assert not notebooks.allows(self.READ, together)

    def test_nothing_is_allowed_where_there_is_nothing(self) -> None:
        assert not notebooks.allows(notebooks.read(notebook()), fix((0, 0, "x = 1\n")))

    def test_a_fix_in_broken_cells_is_refused(self) -> None:
        read = notebooks.read(notebook("x = (", "1)"))

        assert not notebooks.allows(read, fix((6, 7, "2")))


class TestEditing:
    """What an edit makes of the file, byte for byte."""

    DATA = b"""{ "nbformat" : 4, "nbformat_minor": 2,
  "metadata": {"z": [1, 2.50, 1e3], "a": null},
  "cells": [
\t{"source": [
        "import tensorflow as tf\\n",
        "ds = \\u0061.batch(8)\\n",

        "print(ds)" ],
      "outputs": [{"data": {"image/png": "iVBOR\\/w0KGgo=\\n"}}], "cell_type": "code" },
    {"cell_type":"code","source":"a = 1\\nb = '\\\\n\\u003c'\\r\\nc = 3","outputs":[]}
  ]
}"""

    def test_a_line_in_a_list_is_respelt_where_it_stands(self) -> None:
        after = replaced(self.DATA, "a.batch(8)", "a.repeat()")

        assert after == self.DATA.replace(rb"\u0061.batch(8)", b"a.repeat()")

    def test_a_line_in_a_single_string_is_respelt_where_it_stands(self) -> None:
        after = replaced(self.DATA, "c = 3", "c = '\"'")

        assert after == self.DATA.replace(b"c = 3", rb"c = '\"'")

    @pytest.mark.parametrize(
        ("old", "new", "spelt", "respelt"),
        [
            (  # the line above is the last one now
                "print(ds)\n",
                "",
                b'"ds = \\u0061.batch(8)\\n",\n\n        "print(ds)"',
                b'"ds = a.batch(8)"',
            ),
            ("ds = a.batch(8)\n", "", b'\n        "ds = \\u0061.batch(8)\\n",', b""),
            (
                "import tensorflow as tf\n",
                "",
                b'\n        "import tensorflow as tf\\n",\n        "ds',
                b'\n        "ds',
            ),
            (
                "import tensorflow as tf\n",
                "import gc\nimport tensorflow as tf\n",
                b'"import tensorflow as tf\\n",',
                b'"import gc\\n",\n        "import tensorflow as tf\\n",',
            ),
            (
                "print(ds)\n",
                "print(ds)\ndel ds\n",
                b'"print(ds)"',
                b'"print(ds)\\n",\n        "del ds"',
            ),
            ("a = 1\n", "", rb"a = 1\n", b""),
            ("a = 1\n", "a = 1\nz = 0\n", rb"a = 1\n", rb"a = 1\nz = 0\n"),
            ("c = 3\n", "c = 3\nz = 0\n", rb"c = 3", rb"c = 3\nz = 0"),
        ],
    )
    def test_lines_come_and_go_with_what_sets_them_apart(
        self, old: str, new: str, spelt: bytes, respelt: bytes
    ) -> None:
        assert self.DATA.count(spelt) == 1

        assert replaced(self.DATA, old, new) == self.DATA.replace(spelt, respelt)

    def test_lines_that_become_one_are_one_string(self) -> None:
        data = notebook("x = (\n    1\n)\ny = 2", "z = [\n]")

        assert replaced(data, "(\n    1\n)", "1") == notebook("x = 1\ny = 2", "z = [\n]")
        assert replaced(data, "[\n]", "3") == notebook("x = (\n    1\n)\ny = 2", "z = 3")
        assert replaced(data, "\n    1\n)\ny", "1); y") == notebook("x = (1); y = 2", "z = [\n]")

    def test_nothing_changes_without_an_edit(self) -> None:
        read = notebooks.read(self.DATA)

        assert notebooks.edited(self.DATA, read, ()) == (self.DATA, read)
        assert replaced(self.DATA, "print", "print") == self.DATA

    def test_a_cell_may_lose_all_its_lines(self) -> None:
        data = notebook("import gc", "x = 1", cell("y = 2"))

        assert sources_of(replaced(data, "import gc\n", "")) == [[], ["x = 1"], "y = 2"]
        assert sources_of(replaced(data, "import gc", "")) == [["\n"], ["x = 1"], "y = 2"]
        assert sources_of(replaced(data, "y = 2\n", "")) == [["import gc"], ["x = 1"], ""]

    def test_the_last_line_keeps_the_end_it_has(self) -> None:
        data = notebook("x = 1\n", "y = 2")

        assert sources_of(replaced(data, "1", "0")) == [["x = 0\n"], ["y = 2"]]
        assert sources_of(replaced(data, "2", "0")) == [["x = 1\n"], ["y = 0"]]
        assert sources_of(replaced(data, "2\n", "2\n\n")) == [["x = 1\n"], ["y = 2\n", "\n"]]

    @pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
    def test_compact_json_stays_compact(self, separators: tuple[str, str]) -> None:
        def spell(source: str) -> bytes:
            return json.dumps(document(source), separators=separators).encode()

        assert replaced(spell("x = 1\ny = 2"), "2", "2\nz = 3") == spell("x = 1\ny = 2\nz = 3")

    def test_a_list_of_one_line_grows(self) -> None:
        assert replaced(notebook("x = 1"), "1", "1\ny = 2") == notebook("x = 1\ny = 2")

    @pytest.mark.parametrize("ascii_only", [True, False])
    def test_other_alphabets_are_spelt_as_the_file_spells_them(self, ascii_only: bool) -> None:
        def spell(source: str) -> bytes:
            return json.dumps(document(source), ensure_ascii=ascii_only).encode()

        assert replaced(spell("x = 'é'"), "x", "y = '𐍈'; x") == spell("y = '𐍈'; x = 'é'")

    def test_without_a_hint_other_alphabets_are_spelt_as_they_are(self) -> None:
        assert "é".encode() in replaced(notebook("x = 1"), "1", "'é'")

    def test_a_byte_order_mark_stays(self) -> None:
        mark = b"\xef\xbb\xbf"

        assert replaced(mark + notebook("x = 1"), "1", "2") == mark + notebook("x = 2")

    def test_line_ends_of_file_and_code_stay(self) -> None:
        def spell(source: str) -> bytes:
            return notebook(source, "%m\r\nz = 1\r\n").replace(b"\n", b"\r\n")

        assert replaced(spell("x = 1\r\ny = 2"), "2", "0") == spell("x = 1\r\ny = 0")

    def test_what_is_not_python_stays_where_it_is(self) -> None:
        data = notebook("%%time\n!pip install \\\n  a\nx = 1\nfiles = !ls\nx?\ny = 2")
        after = mended(data, (11, 11, "w = 0\n"), (15, 16, "3"), (27, 33, ""))

        assert notebooks.read(data).text == "pass\npass\n\nx = 1\npass\npass\ny = 2\n"
        assert after == notebook("%%time\n!pip install \\\n  a\nw = 0\nx = 3\nfiles = !ls\nx?")

    def test_an_indented_line_between_cells_belongs_to_the_upper_one(self) -> None:
        data = notebook("for a in b:\n c(a)", "d = 1")
        between = notebooks.read(data).cells[1].start

        indented = mended(data, (between, between, " del a\n"))
        flush = mended(data, (between, between, "e = 0\n"))

        assert indented == notebook("for a in b:\n c(a)\n del a", "d = 1")
        assert flush == notebook("for a in b:\n c(a)", "e = 0\nd = 1")

    def test_strings_that_are_no_lines_are_taken_as_they_come(self) -> None:
        data = notebook(cell(["x =", " 1\ny = 2\n", "", "z", " = 3"]))

        assert sources_of(replaced(data, "3", "0")) == [["x =", " 1\ny = 2\n", "", "z", " = 0"]]
        assert sources_of(replaced(data, "y", "w")) == [["x =", " 1\n", "w = 2\n", "", "z", " = 3"]]
        assert "".join(sources_of(replaced(data, "1\ny = 2\nz", "z"))[0]) == "x = z = 3"

    def test_of_values_that_are_given_twice_the_last_one_counts(self) -> None:
        data = b"""{"nbformat": 4, "cells": [{"a": 1}], "metadata": {}, "cells": [
            {"source": "y = 1", "cell_type": "code", "source": "x = 1"}]}"""

        assert replaced(data, "1", "2") == data.replace(b"x = 1", b"x = 2")

    def test_edits_that_do_not_go_together_are_not_made(self) -> None:
        data = notebook("x = 1;# y\nz", "import b")
        read = notebooks.read(data)
        edits = (6, 10, ""), (10, 12, "")

        assert all(notebooks.allows(read, fix(edit)) for edit in edits)
        with pytest.raises(ValueError, match="do not leave the cells of the notebook whole"):
            notebooks.edited(data, read, fix(*edits).edits)


class Line(NamedTuple):
    """A line of a cell, or several that belong together, and what becomes of it."""

    source: str
    text: str
    new: tuple[str, ...]

    @property
    def kept(self) -> bool:
        return self.new == (self.source,)


class Style(NamedTuple):
    """How a program writes notebooks."""

    single: bool
    """Each source is one string, not a list of lines."""
    ascii_only: bool
    roundabout: bool
    """It spells letters as nobody else does, which shows who has respelt a line."""
    pad: str

    def string(self, text: str) -> str:
        spelt = json.dumps(text, ensure_ascii=self.ascii_only)
        letters = {ord(each): f"\\u{ord(each):04X}" for each in "xy%!"}
        return spelt.translate(letters) if self.roundabout else spelt

    def source(self, text: str) -> str:
        if self.single:
            return self.string(text)
        return f"[{self.pad}{f',{self.pad}'.join(map(self.string, lines(text)))}{self.pad}]"


PYTHON_LINES = [
    "x = 1",
    "# é",
    "y = '\\n'",
    'x = "\t𐍈"',
    "y(x)  # what?",
    "if x: y",
    '"""\n%d\n"""',
]
OTHER_LINES = ["%matplotlib inline", "!ls '", "files = !ls", "x?", "!y \\\n  x"]

a_python_line = st.sampled_from(PYTHON_LINES)
some_python = st.lists(a_python_line, max_size=2).map(tuple)
python_line = st.builds(lambda old, new: Line(old, old, new), a_python_line, some_python)
kept_line = a_python_line.map(lambda old: Line(old, old, (old,)))
other_line = st.sampled_from(OTHER_LINES).map(
    lambda old: Line(old, "pass" + "\n" * old.count("\n"), (old,))
)
some_cells = st.lists(
    st.lists(python_line | kept_line | other_line, min_size=1, max_size=6), min_size=1, max_size=4
)
styles = st.builds(
    Style,
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", " ", "\n   ", "\r\n\t"]),
)


def surroundings(cells: int, style: Style) -> list[str]:
    """What stands before, between and behind the sources of a notebook's cells."""
    holes = document(*(cell(f"<{at}>") for at in range(cells)), title="é")
    return re.split(r'"<\d+>"', json.dumps(holes, ensure_ascii=style.ascii_only, indent=2))


def filled(parts: Sequence[str], values: Sequence[str]) -> str:
    return "".join(part + value for part, value in zip(parts, [*values, ""], strict=True))


def taken_out(raw: str, parts: Sequence[str]) -> list[str]:
    """The sources as JSON, provided that what is around them is as it was."""
    values: list[str] = []
    for part in parts:
        assert raw.startswith(part)
        raw = raw[len(part) :]
        if len(values) < len(parts) - 1:
            end = json.JSONDecoder().raw_decode(raw)[1]
            values.append(raw[:end])
            raw = raw[end:]
    assert raw == ""
    return values


@settings(deadline=None, database=None, max_examples=300)
@given(some_cells, styles, st.booleans())
def test_edits_change_their_lines_and_nothing_else(
    cells: list[list[Line]], style: Style, tight: bool
) -> None:
    parts = surroundings(len(cells), style)
    before = [style.source("\n".join(line.source for line in each)) for each in cells]
    data = filled(parts, before).encode()
    read = notebooks.read(data)
    edits: list[Edit] = []
    start = 0
    for line in chain.from_iterable(cells):
        end = start + len(line.text) + 1
        new = "".join(f"{text}\n" for text in line.new)
        if not line.kept and new and tight:
            edits.append(Edit(Span(start, end - 1), new[:-1]))
        elif not line.kept:
            edits.append(Edit(Span(start, end), new))
        start = end

    raw, again = notebooks.edited(data, read, edits)
    after = taken_out(raw.decode(), parts)

    assert read.text == "".join(line.text + "\n" for line in chain.from_iterable(cells))
    assert all(notebooks.allows(read, Fix("Try", (edit,), Applicability.SAFE)) for edit in edits)
    assert again == notebooks.read(raw)
    for old, old_value, value in zip(cells, before, after, strict=True):
        new = "\n".join(text for line in old for text in line.new)
        assert json.loads(value) == (new if style.single else lines(new))
        if all(line.kept for line in old):
            assert value == old_value
        reached = 0
        for line in old[:-1]:  # the last one has no line end, and another one may become the last
            if line.kept and not new.endswith(line.source):
                for part in lines(line.source + "\n"):
                    spelt = style.string(part)[1:-1]
                    reached = value.index(spelt, reached) + len(spelt)


@settings(deadline=None, database=None)
@given(st.binary() | st.text().map(str.encode))
def test_whatever_is_no_notebook_is_refused(data: bytes) -> None:
    with pytest.raises(UndecodableError):
        notebooks.read(data)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=3,
)
odd_cells = st.fixed_dictionaries(
    {"cell_type": st.just("code") | json_values, "source": st.text() | json_values}
)


@settings(deadline=None, database=None)
@given(st.lists(odd_cells | json_values), json_values)
def test_an_odd_notebook_is_read_or_refused(cells: list[object], metadata: object) -> None:
    data = notebook(cells=cells, metadata=metadata)
    try:
        read = notebooks.read(data)
    except UndecodableError:
        return

    assert notebooks.edited(data, read, ()) == (data, read)
    assert len(read.cells) == len(read.sources)


PIPELINE = "ds = tf.data.Dataset.from_tensor_slices(images)\nds = ds.map(f).batch(32).shuffle(1000)"
MENDED = "ds = tf.data.Dataset.from_tensor_slices(images)\nds = ds.map(f).shuffle(1000).batch(32)"


def training(pipeline: str, **parts: object) -> bytes:
    """A notebook that trains, with the pipeline in its cell 4."""
    return notebook(
        cell(["# Training"], "markdown"),
        "%matplotlib inline\nimport tensorflow as tf",
        "%%bash\nnvidia-smi",
        f"files = !ls\n{pipeline}",
        **parts,
    )


def check(
    *arguments: str | Path, folder: Path, stdin: bytes = b"", packs: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "tfmemlint", "check", *map(str, arguments)],
        cwd=folder,
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(packs or "")},
        capture_output=True,
        check=False,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "n.ipynb"


def found(path: Path, packs: Path | None = None) -> list[dict[str, Any]]:
    """What the command line says of a file."""
    done = check("--output-format=json", path, folder=path.parent, packs=packs)
    records: list[dict[str, Any]] = json.loads(done.stdout)
    assert done.returncode == (1 if records else 0)
    return records


def codes(path: Path) -> list[str]:
    return [each["code"] for each in found(path)]


class TestCommandLine:
    """Notebooks from the command line to the report and back to the disk."""

    def test_a_finding_is_placed_in_its_cell(self, path: Path) -> None:
        path.write_bytes(training(PIPELINE))
        done = check("--output-format=concise", "n.ipynb", folder=path.parent)
        [record] = found(path)

        assert done.returncode == 1
        assert done.stdout.startswith(b"n.ipynb:cell 4:3:26: TFM202 ")
        assert (record["cell"], record["location"]) == (4, {"row": 3, "column": 26})

    def test_the_lines_around_it_are_shown_as_they_are(self, path: Path) -> None:
        path.write_bytes(notebook("import tensorflow as tf", f"%%time\n{PIPELINE}\n!ls *.tfrecord"))
        shown = check("n.ipynb", folder=path.parent).stdout.decode()

        assert shown.count("4 | !ls *.tfrecord") == 2
        assert "pass" not in shown.replace("passed", "")

    def test_notebooks_are_found_in_folders(self, path: Path) -> None:
        path.write_bytes(training(PIPELINE))
        done = check("--output-format=concise", folder=path.parent)

        assert done.stdout.startswith(b"n.ipynb:cell 4:3:26: TFM202 ")

    def test_a_fix_is_written_into_the_notebook(self, path: Path) -> None:
        path.write_bytes(training(PIPELINE, nbformat_minor=2))
        done = check("--fix", "--unsafe-fixes", path, folder=path.parent)

        assert (done.returncode, done.stderr) == (0, b"")
        assert path.read_bytes() == training(MENDED, nbformat_minor=2)

    def test_an_unsafe_fix_is_not_written_unasked(self, path: Path) -> None:
        path.write_bytes(training(PIPELINE))

        assert check("--fix", path, folder=path.parent).returncode == 1
        assert path.read_bytes() == training(PIPELINE)

    def test_a_fix_may_wait_for_another_one(self, path: Path) -> None:
        path.write_bytes(training(f"x = 1  # tfmemlint: ignore[TFM202]\n{PIPELINE}.shuffle(20)"))
        check("--fix", "--unsafe-fixes", path, folder=path.parent)

        twice = MENDED.replace(".batch(32)", ".shuffle(20).batch(32)")
        assert path.read_bytes() == training(f"x = 1\n{twice}")

    def test_a_diff_shows_lines_of_the_file(self, path: Path) -> None:
        path.write_bytes(training(PIPELINE))
        done = check("--diff", "--unsafe-fixes", path, folder=path.parent)

        changed = [line for line in done.stdout.splitlines() if line[:1] in (b"-", b"+")]
        assert done.returncode == 1
        assert changed[2:] == [
            b'-    "ds = ds.map(f).batch(32).shuffle(1000)"',
            b'+    "ds = ds.map(f).shuffle(1000).batch(32)"',
        ]
        assert path.read_bytes() == training(PIPELINE)

    def test_standard_input_is_a_notebook_by_its_name(self, tmp_path: Path) -> None:
        name, data = ("--stdin-filename=n.ipynb", "-"), training(PIPELINE)
        told = check("--output-format=concise", *name, folder=tmp_path, stdin=data)
        mended = check("--fix", "--unsafe-fixes", *name, folder=tmp_path, stdin=data)

        assert told.stdout.startswith(b"n.ipynb:cell 4:3:26: TFM202 ")
        assert mended.stdout == training(MENDED)

    def test_a_comment_in_a_cell_suppresses(self, path: Path) -> None:
        above = PIPELINE.replace("\n", "\n# tfmemlint: ignore[shuffle-after-batch] sorted\n")
        for pipeline in (f"{PIPELINE}  # noqa: TFM202", above):
            path.write_bytes(training(pipeline))

            assert codes(path) == []

    def test_a_comment_at_the_end_of_a_cell_does_not_reach_the_next(self, path: Path) -> None:
        comment = "# tfmemlint: ignore[TFM202]"
        above, _, below = PIPELINE.partition("\n")
        path.write_bytes(notebook("import tensorflow as tf", f"{above}\n{comment}", below))

        assert codes(path) == ["TFM005", "TFM202"]

    def test_a_comment_elsewhere_does_not(self, path: Path) -> None:
        for pipeline in (f"{PIPELINE}  # noqa: E501", f"# noqa: E501\n{PIPELINE}"):
            path.write_bytes(training(pipeline))

            assert codes(path) == ["TFM202"]

    def test_a_comment_that_suppresses_nothing_is_taken_out(self, path: Path) -> None:
        idle = "# tfmemlint: ignore[TFM202] no more"
        path.write_bytes(notebook("import tensorflow as tf", f"x = 1\n{idle}", f"{idle}\n!ls"))

        assert check("--fix", path, folder=path.parent).returncode == 0
        assert path.read_bytes() == notebook("import tensorflow as tf", "x = 1", "!ls")

    def test_a_fix_that_leaves_its_cell_is_not_offered(self, path: Path) -> None:
        folder = path.parent
        (folder / "acme_rules").mkdir()
        (folder / "acme_rules" / "__init__.py").write_text("")
        (folder / "acme_rules" / "greedy.py").write_text(GREEDY)
        (folder / "acme-1.dist-info").mkdir()
        (folder / "acme-1.dist-info" / "entry_points.txt").write_text(
            "[tfmemlint.rules]\nacme = acme_rules\n"
        )
        (folder / "tfmemlint.toml").write_text("plugins = ['acme']\n")
        one, two = notebook("import keras\nspam\neggs"), notebook("import keras\nspam", "eggs")
        offered: list[bool] = []
        for data in (one, two):
            path.write_bytes(data)
            [record] = found(path, packs=folder)
            offered.append(bool(record["fix"]))
            check("--fix", path, folder=folder, packs=folder)

        assert offered == [True, False]
        assert path.read_bytes() == two

    def test_a_syntax_error_is_said_where_no_cell_is_python(self, path: Path) -> None:
        path.write_bytes(notebook("%%bash\nls", "%cd a\nimport tensorflow ="))
        [record] = found(path)

        assert (record["code"], record["cell"], record["location"]["row"]) == ("TFM002", 2, 2)

    @pytest.mark.parametrize(
        ("data", "code"),
        [
            (training(PIPELINE)[:-9], "TFM001"),
            (training(PIPELINE, nbformat=3), "TFM001"),
            (b"[" * 200_000 + b"tensorflow", "TFM001"),
            (notebook("import tensorflow", cell(None)), "TFM001"),
            (training(PIPELINE, padding="p" * 20_000_000), "TFM003"),
            (notebook("import tensorflow", "x = " + "-" * 100_000 + "1"), "TFM003"),
        ],
        ids=["cut", "old", "deep", "odd", "large", "deep-code"],
    )
    def test_what_is_not_checked_is_said(self, data: bytes, code: str, path: Path) -> None:
        path.write_bytes(data)

        assert codes(path) == [code]

    def test_a_notebook_in_another_language_is_clean(self, path: Path) -> None:
        path.write_bytes(
            notebook("library(tensorflow)\nx <- 1", metadata={"kernelspec": {"language": "R"}})
        )

        assert codes(path) == []

    def test_many_pictures_do_not_keep_a_notebook_from_being_checked(self, path: Path) -> None:
        picture = {**cell("x = 1"), "outputs": [{"data": {"image/png": "A" * 10_000_000}}]}
        path.write_bytes(notebook("import tensorflow as tf", picture, PIPELINE))

        assert codes(path) == ["TFM202"]


GREEDY = '''
"""Eats all that follows."""

from tfmemlint import Applicability, Claim, Diagnostic, Edit, Fix, Metric, Rule, Span


def check(file):
    start = file.text.find("spam")
    if start >= 0:
        fix = Fix("Eat", (Edit(Span(start, len(file.text)), ""),), Applicability.SAFE)
        yield Diagnostic(Span(start, start + 4), "spam", fix)


RULE = Rule("TFM901", "greedy", Claim(Metric.HOST_PEAK, 0.5, "it is gone"), ("spam",), check)
'''
