"""What types of numbers become together: NumPy 2's rules for arrays, and TensorFlow's."""

from __future__ import annotations

_WIDTHS = (8, 16, 32, 64)
_NAMES = {
    "bool_": "bool",
    "cdouble": "complex128",
    "csingle": "complex64",
    "double": "float64",
    "float": "float64",
    "half": "float16",
    "int": "int64",
    "int_": "int64",
    "single": "float32",
}
_KINDS = ("bool", "complex", "float", "int", "uint")


def of_arrays(one: str | None, other: str | None) -> str | None:
    """The type of what NumPy makes of two arrays; None where it is not known."""
    kinds = [_split(each) for each in (one, other)]
    (first, bits), (second, more) = kinds
    if not first or not second:
        return None
    if first == second:
        return _named(first, max(bits, more))
    if "bool" in (first, second):
        return _named(*(kinds[0] if second == "bool" else kinds[1]))
    if {first, second} == {"int", "uint"}:
        signed, unsigned = (bits, more) if first == "int" else (more, bits)
        wide = max(signed, 2 * unsigned)
        return f"int{wide}" if wide in _WIDTHS else "float64"
    needed = [_needed(kind, width) for kind, width in kinds]
    if "complex" in (first, second):
        return "complex64" if max(needed) <= 32 else "complex128"
    return f"float{max(needed)}"


def quotient(dtype: str | None, *, tensor: bool = False) -> str | None:
    """The type of what a division by something of the same type makes."""
    kind, bits = _split(dtype)
    if kind in ("float", "complex") or not kind:
        return dtype
    narrow = tensor and kind != "bool" and bits <= 16
    return "float32" if narrow else "float64"


def _split(dtype: str | None) -> tuple[str, int]:
    """What kind of numbers, and of how many bits."""
    known = _NAMES.get(dtype or "", dtype or "")
    kind = known.rstrip("0123456789")
    bits = known[len(kind) :]
    if kind not in _KINDS or bool(bits) == (kind == "bool"):
        return "", 0
    return kind, int(bits or 1)


def _named(kind: str, bits: int) -> str:
    return "bool" if kind == "bool" else f"{kind}{bits}"


def _needed(kind: str, bits: int) -> int:
    """Of how many bits a float has to be that holds such numbers, or a part of them."""
    if kind == "float":
        return bits
    if kind == "complex":
        return bits // 2
    return min(64, 2 * bits)
