"""tfmemlint finds code that wastes or leaks memory in TensorFlow and Keras programs, and fixes it.

These names are what a rule is made of; nothing else is public but what IPython calls. They are
imported when first asked for: until `python -m tfmemlint` has taken the working directory off the
path, a stranger's `enum.py` there would be run in place of the standard library's.
"""

TYPE_CHECKING = False  # type checkers take it for typing's, which must not be imported here
if TYPE_CHECKING:
    from tfmemlint.source import File
    from tfmemlint.vocabulary import (
        Applicability,
        Claim,
        Cost,
        Diagnostic,
        Edit,
        Fix,
        Law,
        Metric,
        Rule,
        Span,
    )

__all__ = [
    "Applicability",
    "Claim",
    "Cost",
    "Diagnostic",
    "Edit",
    "File",
    "Fix",
    "Law",
    "Metric",
    "Rule",
    "Span",
]
__version__ = "0.1.0"


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tfmemlint import source, vocabulary  # noqa: PLC0415

    return source.File if name == "File" else getattr(vocabulary, name)


def load_ipython_extension(shell: object) -> None:
    """What `%load_ext tfmemlint` calls in a notebook."""
    from tfmemlint.jupyter import load  # noqa: PLC0415

    load(shell)
