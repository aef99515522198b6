"""Source bytes become the text that Python itself would read, and the same bytes again."""

from __future__ import annotations

import ast
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tfmemlint.decoding import UndecodableError, decode, encode

BOM = b"\xef\xbb\xbf"
TAIL = b"\nx = 'a\xc3\xa9'\n"

READABLE = [
    b"",
    b"# coding: utf-8",
    b"# -*- coding: UTF_8-unix -*-",
    b"# coding: latin-1",
    b"# vim: set fileencoding=cp1252 :",
    b"# coding: iso-latin-1-unix",
    b"# coding:gbk",
    b"# coding: utf-8-sig",
    b"\n# coding: latin-1",
    b"\r\n\t\x0c # coding: latin-1",
    b"#!/usr/bin/python\r# coding: latin-1",
    b"#!/usr/bin/python\r\n# coding: latin-1",
    b"# coding: latin-1\n# coding: no-such-thing",
    b"x = 1\n# coding: latin-1",
    b"\n\n# coding: latin-1",
    b"'''\n# coding: latin-1\n'''",
    b"s = '# coding: latin-1'",
    BOM,
    BOM + b"# coding: utf-8",
]
UNREADABLE = [
    b"# coding: no-such-thing",
    b"# coding: rot13",
    b"# coding: hex",
    b"# coding: ascii",
    b"# coding: utf-16",
    b"# coding: undefined",
    BOM + b"# coding: latin-1",
    BOM + b"# coding: utf8",
]

PIECES = (
    *(b"#", b"# ", b"coding", b"coding:", b"=", b"latin-1", b"utf-8", b"cp1252"),
    *(b" ", b"\t", b"\x0c", b"\n", b"\r", b"\r\n", b"\\\n", b"x=1", b"'\xc3\xa9'", b"\xe9"),
)


def python_reads(data: bytes | str) -> str | None:
    """The tree that Python makes of a file's bytes or text; None where it refuses them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.dump(ast.parse(data))
        except (SyntaxError, ValueError):
            return None


@pytest.mark.parametrize("head", READABLE)
def test_text_is_what_python_reads(head: bytes) -> None:
    data = head + TAIL
    tree = python_reads(data)

    assert tree is not None
    assert tree == python_reads(decode(data).text)


@pytest.mark.parametrize("head", UNREADABLE)
def test_what_python_refuses_to_read_is_undecodable(head: bytes) -> None:
    data = head + TAIL

    assert python_reads(data) is None
    with pytest.raises(UndecodableError):
        decode(data)


@pytest.mark.parametrize("head", READABLE)
def test_text_is_written_back_as_the_same_bytes(head: bytes) -> None:
    data = head + TAIL
    decoded = decode(data)

    assert data == encode(decoded.text, decoded)


def test_line_endings_are_left_alone() -> None:
    data = b"a = 1\r\nb = 2\rc = 3\n\x0cd = 4\x1c\xe2\x80\xa8"

    assert data.decode() == decode(data).text


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"x = '\xe9'\n", "not valid utf-8 at byte 5, and no other encoding is declared"),
        (BOM + b"x = '\xe9'\n", "not valid utf-8 at byte 8"),
        (b"# coding: ascii\nx = '\xe9'\n", "not valid ascii at byte 21"),
        (b"# coding: klingon\n", "cannot be decoded: unknown encoding: klingon"),
    ],
)
def test_message_says_why_bytes_are_not_text(data: bytes, why: str) -> None:
    with pytest.raises(UndecodableError) as error:
        decode(data)

    assert why == str(error.value)


@settings(deadline=None, database=None)
@given(
    st.lists(
        st.sampled_from(PIECES),
        max_size=14,
    ),
    st.booleans(),
)
def test_declarations_are_found_where_python_finds_them(pieces: list[bytes], bom: bool) -> None:
    data = BOM * bom + b"".join(pieces) + TAIL
    tree = python_reads(data)
    try:
        decoded = decode(data)
    except UndecodableError:
        # Compiling bytes, Python lets garbage in a comment pass; running a file, it does not.
        assert tree is None or b"\xe9" in data
        return

    assert data == encode(decoded.text, decoded)
    assert tree == python_reads(decoded.text)
