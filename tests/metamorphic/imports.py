"""Programs that import TensorFlow and Keras in other words, and are the same."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from tests.metamorphic.programs import NotTheSame

_ROOTS = ("tensorflow", "keras")
_ENGINE = {
    "keras.Input": "keras.engine.topology",
    "keras.Model": "keras.engine.training",
    "keras.Sequential": "keras.engine.sequential",
    "keras.layers.Conv2D": "keras.layers.convolutional",
    "keras.layers.Dense": "keras.layers.core",
    "keras.layers.LSTM": "keras.layers.recurrent",
    "keras.utils.to_categorical": "keras.utils.np_utils",
}
_TWINS = {
    **{
        f"tensorflow.{word}": f"tensorflow.math.{word}"
        for word in ("add", "argmax", "exp", "multiply", "reduce_max", "reduce_mean", "reduce_sum")
    },
    "keras.Input": "keras.layers.Input",
    "keras.Model": "keras.models.Model",
    "keras.Sequential": "keras.models.Sequential",
    "keras.layers.Layer": "keras.Layer",
    "keras.models.load_model": "keras.saving.load_model",
    "tensorflow.cast": "tensorflow.dtypes.cast",
    "tensorflow.data.AUTOTUNE": "tensorflow.data.experimental.AUTOTUNE",
    "tensorflow.float32": "tensorflow.dtypes.float32",
    "tensorflow.io.decode_jpeg": "tensorflow.image.decode_jpeg",
    "tensorflow.io.decode_png": "tensorflow.image.decode_png",
    "tensorflow.matmul": "tensorflow.linalg.matmul",
}
_STARRED = ("keras.layers", "keras.models", "keras.optimizers")

Style = Callable[[str], tuple[str, str]]
"""Of a name in full: the statement that brings it, and what it is called then."""


def respelt(text: str, style: Style) -> str:
    """The same program with other imports. Raises NotTheSame where a name is taken."""
    tree = ast.parse(text)
    names = _Names(_imported(tree), _bound(tree), style)
    tree.body = [names.visit(each) for each in tree.body if not _brings(each)]
    at = next((place for place, each in enumerate(tree.body) if not _is_first(each)), 0)
    tree.body[at:at] = ast.parse("\n".join(names.needed)).body
    return ast.unparse(ast.fix_missing_locations(tree))


def _of_tensorflow(name: str) -> tuple[str, str]:
    below = name.removeprefix("tensorflow.")
    return "import tensorflow as tf", "tf" if name == "tensorflow" else f"tf.{below}"


def _as_other_package(package: str) -> Style:
    def spell(name: str) -> tuple[str, str]:
        root, _, rest = name.partition(".")
        if root == "tensorflow":
            return _of_tensorflow(name)
        return f"import {package} as other", f"other.{rest}" if rest else "other"

    return spell


def _from(package: str) -> Style:
    """Each class and function of Keras by its own name."""

    def spell(name: str) -> tuple[str, str]:
        module, last = _split(name)
        if not module.startswith("keras"):
            return _of_tensorflow(name)
        home = module.replace("keras", package, 1)
        return f"from {home} import {last.partition('.')[0]}", last

    return spell


def _by_modules(name: str) -> tuple[str, str]:
    root, _, rest = name.partition(".")
    if root == "tensorflow":
        return _of_tensorflow(name)
    module, _, last = rest.partition(".")
    return (f"from tensorflow.keras import {module}", rest) if last else _from("keras")(name)


def _assigned(name: str) -> tuple[str, str]:
    root, module, *rest = [*name.split("."), ""]
    if root == "tensorflow" or not rest[:-1]:
        return _of_tensorflow(name) if root == "tensorflow" else _from("keras")(name)
    return f"import tensorflow\nof_{module} = tensorflow.keras.{module}", ".".join(
        (f"of_{module}", *rest[:-1])
    )


def _starred(name: str) -> tuple[str, str]:
    module, last = _split(name)
    starred = f"from tensorflow.{module} import *"
    return (starred, last) if module in _STARRED else _from("tensorflow.keras")(name)


def _in_the_engine(name: str) -> tuple[str, str]:
    module, last = _split(name)
    first = last.partition(".")[0]
    home = _ENGINE.get(f"{module}.{first}")
    return (f"from {home} import {first}", last) if home else _from("keras")(name)


def _twin(name: str) -> tuple[str, str]:
    other = _TWINS.get(name, name)
    if other.startswith("keras"):
        return "import tensorflow as tf", f"tf.{other}"
    return _of_tensorflow(other)


STYLES: Mapping[str, Style] = {
    "keras": _as_other_package("keras"),
    "tensorflow.keras": _as_other_package("tensorflow.keras"),
    "tensorflow.compat.v2.keras": _as_other_package("tensorflow.compat.v2.keras"),
    "from keras": _from("keras"),
    "from tensorflow.keras": _from("tensorflow.keras"),
    "from tensorflow.python.keras": _from("tensorflow.python.keras"),
    "modules": _by_modules,
    "assigned": _assigned,
    "starred": _starred,
    "engine": _in_the_engine,
    "twins": _twin,
}


class _Names(ast.NodeTransformer):
    def __init__(self, imported: Mapping[str, str], bound: set[str], style: Style) -> None:
        self.needed: list[str] = []
        self._imported = imported
        self._bound = bound
        self._style = style

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return self._spelt(node) or self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._spelt(node) or node

    def _spelt(self, node: ast.Attribute | ast.Name) -> ast.AST | None:
        parts: list[str] = []
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            parts.insert(0, root.attr)
            root = root.value
        is_name = isinstance(root, ast.Name) and root.id not in self._bound
        home = self._imported.get(root.id) if isinstance(root, ast.Name) and is_name else None
        if home is None:
            return None
        full = ".".join((home, *parts))
        brings, called = self._style(full.removeprefix("tensorflow.") if _is_keras(full) else full)
        if called.partition(".")[0] in self._bound:
            raise NotTheSame
        self.needed += [each for each in brings.split("\n") if each not in self.needed]
        made = ast.parse(called, mode="eval").body
        if isinstance(made, (ast.Attribute, ast.Name)):
            made.ctx = node.ctx
        return made


def _is_keras(name: str) -> bool:
    return f"{name}.".startswith("tensorflow.keras.")


def _split(name: str) -> tuple[str, str]:
    """A module, and what comes from it: a class with what is in it, or a function."""
    parts = name.split(".")
    last = next((at for at, each in enumerate(parts) if each[0].isupper()), len(parts) - 1)
    return ".".join(parts[:last]), ".".join(parts[last:])


def _imported(tree: ast.Module) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement in filter(_brings, tree.body):
        assert isinstance(statement, (ast.Import, ast.ImportFrom))
        for each in statement.names:
            if isinstance(statement, ast.ImportFrom):
                found[each.asname or each.name] = f"{statement.module}.{each.name}"
            else:
                first = each.name.partition(".")[0]
                found[each.asname or first] = each.name if each.asname else first
    return found


def _brings(statement: ast.stmt) -> bool:
    """Whether a statement imports TensorFlow or Keras; raises NotTheSame where it is not alone."""
    if isinstance(statement, ast.ImportFrom):
        brings = not statement.level and (statement.module or "").split(".")[0] in _ROOTS
        alone = all(each.name != "*" for each in statement.names)
    elif isinstance(statement, ast.Import):
        roots = {each.name.split(".")[0] for each in statement.names}
        brings, alone = not roots.isdisjoint(_ROOTS), roots <= {*_ROOTS}
    else:
        return False
    if brings and not alone:
        raise NotTheSame
    return brings


def _is_first(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return statement.module == "__future__"
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _bound(tree: ast.Module) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
    return found
