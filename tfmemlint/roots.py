"""Where a project begins: what stands in its first folder."""

PACKAGE = "__init__.py"
MOST_FOLDERS = 12
"""Folders above a file that may be the project's."""
MARKS = frozenset(
    (
        ".git",
        ".hg",
        "Pipfile",
        "environment.yml",
        "pyproject.toml",
        "requirements.txt",
        "setup.cfg",
        "setup.py",
        "tfmemlint.toml",
        "tox.ini",
    )
)
