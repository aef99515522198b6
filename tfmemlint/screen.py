"""The cheap gates before any parse: a file or a rule they hold back has nothing to say."""

from __future__ import annotations

TYPE_CHECKING = False  # what is mentioned is known before `typing` or `re` would be imported
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeVar

    from tfmemlint.registry import Outline
    from tfmemlint.vocabulary import Rule

    Known = TypeVar("Known", Rule, Outline)

_WORD = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"
_SPACED = bytes(byte if byte in _WORD else 0x20 for byte in range(256))

_LONG = rb"QQQ[^Q\\]*(?:(?:\\[\s\S]|Q(?!QQ))[^Q\\]*)*QQQ"
_SHORT = rb"Q[^Q\\\n]*(?:\\[\s\S][^Q\\\n]*)*Q"
# Splitting by it leaves code at even places. Each form begins with a byte of its own: what cannot
# begin any is passed over without a try.
_COMMENT_OR_STRING = rb"(#[^\n]*|%b|%b|%b|%b)" % tuple(
    form.replace(b"Q", quote) for form in (_LONG, _SHORT) for quote in (b'"', b"'")
)
_ALTERNATIVES: dict[str, frozenset[bytes]] = {}
"""The words that triggers list, once they have been taken apart."""
_LEFT_OUT = (b"#", b'"""', b"'''")
# No quote in braces, nor what hides one: where a string ends that such text is all of, it is over.
_SIMPLE = rb"[^{}]*(?:(?:\{\{|\}\}|\{[^{}'\"#\\]*\})[^{}]*)*"
_FORMATTED = (b"f", b"F", b"fr", b"fR", b"Fr", b"FR")
_INSIDE = rb"tensorflow\.(?:_api|compiler|core|dtensor|python|security|tools|tsl)\b"
# `DatasetV2` is what facts know by the name that it has inside TensorFlow.
_OFFERED = rb"\b(?!%b)tensorflow(?:_|\b)|\b(?:tf_)?keras|\bDatasetV2\b" % _INSIDE
_ARRAYS = (b"numpy", b"cv2", b"PIL", b"pickle", b"pandas", b"h5py", b"deque")
_DATA = (*_ARRAYS, b".predict", b".fit", b".batch", b".shuffle", b"train_on_batch")
_PARTS = (b"keras", b"DatasetV2")


def mentions_tensorflow(data: bytes) -> bool:
    """Whether the source can use TensorFlow or Keras at all."""
    if _names_it(data):
        return True
    return not data.isascii() and _names_it(_plain(data))


def _names_it(data: bytes) -> bool:
    if b"tensorflow" in data or b"keras" in data:
        return True
    return b"transformers" in data and b" TF" in data  # `from transformers import TFAutoModel`


def handles_data(data: bytes) -> bool:
    """Whether the source can handle arrays, or a model or a pipeline that it is given.

    What cannot has nothing to waste of what a program with TensorFlow holds.
    """
    return any(each in data for each in _DATA)


def code(data: bytes) -> tuple[bytes, bytes]:
    """The source but for comments and strings, and its strings in one quote; in doubt, all of it.

    What looks like code in a formatted string is code, and may hold quotes of its own.
    """
    import re  # noqa: PLC0415

    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    parts = re.split(_COMMENT_OR_STRING, data)
    between, strings = parts[::2], parts[1::2]
    plain = b" ".join(between)
    if b'"' in plain or b"'" in plain:
        return data, b""
    for before, string in zip(between, strings):  # noqa: B905  what is last has no string behind it
        if before.endswith(_FORMATTED) and _is_doubtful(string):
            return data, b""
    return plain, b" ".join([each for each in strings if not each.startswith(_LEFT_OUT)])


def is_inside_tensorflow(code: bytes) -> bool:
    """Whether the code imports what TensorFlow is made of, and nothing that it offers to others.

    TensorFlow's own sources are so. The facts know no names of theirs, and the rules no harm.
    """
    import re  # noqa: PLC0415

    if b"tensorflow." not in code or not code.isascii():
        return False
    mentions = len(re.findall(_INSIDE, code))
    if not mentions:
        return False
    if mentions == code.count(b"tensorflow") and not any(part in code for part in _PARTS):
        return True
    return re.search(_OFFERED, code) is None


def words(data: bytes) -> frozenset[bytes]:
    """Everything that can be an ASCII name in the source; comments and strings count as well."""
    plain = data if data.isascii() else _plain(data)
    return frozenset(plain.translate(_SPACED).split())


def awaited(
    rules: Iterable[Known], words: frozenset[bytes], others: Sequence[frozenset[bytes]] = ()
) -> list[Known]:
    """The rules all of whose triggers these words meet.

    One that has several may have all but one met by words of `others`: of files that it imports,
    or that import it.
    """
    here: list[Known] = []
    there: list[Known] = []
    for rule in rules:
        entries = map(_alternatives, rule.triggers)
        missing = [each for each in entries if each.isdisjoint(words)]
        if not missing:
            here.append(rule)
        elif len(missing) < max(len(rule.triggers), 2) and _meet(missing, others):
            there.append(rule)
    return here + there


def _meet(entries: Iterable[frozenset[bytes]], several: Sequence[frozenset[bytes]]) -> bool:
    return all(any(not entry.isdisjoint(words) for words in several) for entry in entries)


def _is_doubtful(formatted: bytes) -> bool:
    """Whether a formatted string is long, or may have been cut short by a quote in its code."""
    import re  # noqa: PLC0415

    if formatted.startswith(_LEFT_OUT):
        return True
    if b"{" not in formatted or re.fullmatch(_SIMPLE, formatted):
        return False
    other = b"'" if formatted.startswith(b'"') else b'"'
    parts = formatted.split(other)  # what stands in other quotes is at odd places
    outside = b"".join(parts[::2])
    return (
        len(parts) % 2 == 0
        or outside.count(b"{") != outside.count(b"}")
        or formatted.count(b"{") != formatted.count(b"}")
        or b"}}" in formatted
        or b"#" in formatted
        or (len(parts) > 1 and (b"\\" in formatted or other * 3 in formatted))
    )


def _plain(data: bytes) -> bytes:
    # Python compares names in NFKC: `tensor` + the ligature for `fl` + `ow` imports tensorflow.
    from unicodedata import normalize  # noqa: PLC0415

    return normalize("NFKC", data.decode("utf-8", "replace")).encode("utf-8")


def _alternatives(entry: str) -> frozenset[bytes]:
    if entry not in _ALTERNATIVES:
        from tfmemlint.facts.library.words import FUSED_METHODS  # noqa: PLC0415

        listed = entry.split()
        fused = [each for each, does in FUSED_METHODS.items() if not set(does).isdisjoint(listed)]
        _ALTERNATIVES[entry] = frozenset(each.encode() for each in (*listed, *fused))
    return _ALTERNATIVES[entry]
