"""tfmemlint finds code that wastes or leaks memory in TensorFlow and Keras programs, and fixes it.

These names are what a rule is made of; nothing else is public.
"""

from tfmemlint.source import File
from tfmemlint.vocabulary import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    Edit,
    Fix,
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
    "Metric",
    "Rule",
    "Span",
]
__version__ = "0.1.0"
