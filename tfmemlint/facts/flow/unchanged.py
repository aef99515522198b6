"""Names whose arrays stay as they are: nothing writes to them, under whatever name."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.graphs.tracing import RUNS_PYTHON
from tfmemlint.facts.library import makers, traits
from tfmemlint.facts.library.signatures import APIS, having
from tfmemlint.facts.syntax.bindings import Binding
from tfmemlint.facts.syntax.nodes import called

_CONVERTS = ("keras.ops.", "tensorflow.")
_READS = frozenset({"abs", "float", "int", "len", "max", "min", "print", "sum", "type"})
_COPIES = frozenset(
    {"all", "any", "argmax", "argmin", "astype", "copy", "dtype", "item", "max", "mean", "min"}
    | {"nbytes", "ndim", "shape", "size", "std", "sum", "tolist", "var"}
)
"""What an array can be asked for without giving a view of itself away."""
_VIEWS = frozenset({"ravel", "reshape", "squeeze", "swapaxes", "transpose"})
_GIVES_VIEW = having(traits.VIEW)
_PLACES = (ast.Attribute, ast.Name, ast.Subscript)
_ONLY_READ = {name: row.reads for name, row in APIS.items() if row.reads}
"""Functions that make new arrays, and how many of their first arguments they surely only read."""
_CHANGES = frozenset({"copy", "out", None})
"""The keywords that have functions write to what they are given, or give it away, or may."""
_GIVES_AWAY = (
    *RUNS_PYTHON,
    "keras.backend.",
    "keras.ops.convert_to_numpy",
    "keras.preprocessing.",
    "keras.utils.",
    "tensorflow.map_fn",
    "tensorflow.nest.",
)
_MAKES = having(traits.SPACED | traits.LOADS | traits.FRAME | traits.SPLITS) | {
    *makers.FILLED,
    *makers.COUNTED,
    "numpy.eye",
    "numpy.identity",
}
_MAKES_ANY = ("keras.datasets.", "numpy.random.", "sklearn.datasets.", "tensorflow.")


class Unchanged:
    """The names of a module that are given an array once, and nothing that is done to it."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._imports = tf.imports

    def stays(self, binding: Binding) -> bool:
        """Whether nothing but reads is done with what a name is given, and nothing else can be."""
        scope = self._tree.scope(binding.node)
        if len(self._bindings.of(scope, binding.name)) != 1 or any(self._tree.loops(binding.node)):
            return False
        if binding.value is None or not self._is_new(binding.value):
            return False
        if isinstance(scope, ast.Module) and self._imports.may_touch(binding.name):
            return False
        return all(map(self._only_reads, self._bindings.loads(scope, binding.name)))

    def _is_new(self, made: ast.expr) -> bool:
        """Whether an expression makes an array that nothing else has a name for."""
        if isinstance(made, (ast.List, ast.Tuple)):
            return all(map(self._is_new, made.elts))
        if isinstance(made, ast.Subscript) and self._is_archive(made.value):
            return True
        if isinstance(made, ast.Subscript) or (
            isinstance(made, ast.Attribute) and made.attr == "T"
        ):
            return self._is_new(made.value)
        if not isinstance(made, ast.Call):
            return isinstance(made, (ast.BinOp, ast.Compare, ast.Constant, ast.UnaryOp))
        name, method = self._names.qualified(made.func), made.func
        if any(each.arg in _CHANGES for each in made.keywords):
            return False
        if name is not None:
            return self._gives_new(name, made)
        if not isinstance(method, ast.Attribute):
            return False
        if method.attr in _VIEWS:
            return self._is_new(method.value)
        known = method.attr in _COPIES or method.attr in makers.GENERATED
        return known and self._functions.function(method) is None

    def _is_archive(self, node: ast.expr) -> bool:
        """Whether a name stands for an .npz file, whose arrays are read anew each time."""
        binding = self._bindings.only(node)
        opened = binding.value if binding is not None and not binding.path else None
        if not isinstance(opened, ast.Call) or self._names.qualified(opened.func) != "numpy.load":
            return False
        path = opened.args[0] if opened.args else None
        named = path.value if isinstance(path, ast.Constant) else None
        return isinstance(named, str) and named.endswith(".npz")

    def _gives_new(self, name: str, call: ast.Call) -> bool:
        """Whether a function gives an array of its own, and not what it was told to write to."""
        if name in _GIVES_VIEW:
            return bool(call.args) and self._is_new(call.args[0])
        if name in _ONLY_READ:
            more = call.args[_ONLY_READ[name] :]
            return not any(isinstance(each, (*_PLACES, ast.Starred)) for each in more)
        given_away = name.startswith(_GIVES_AWAY)
        return (name in _MAKES or name.startswith(_MAKES_ANY)) and not given_away

    def _only_reads(self, use: ast.Name) -> bool:
        node: ast.AST = use
        above = self._tree.parent(node)
        if isinstance(above, ast.Attribute):
            call = self._tree.parent(above)
            told = call.keywords if isinstance(call, ast.Call) else []
            known = above.attr in _COPIES and isinstance(above.ctx, ast.Load)
            return known and not any(each.arg in _CHANGES for each in told)
        if isinstance(above, ast.Subscript) and isinstance(above.ctx, ast.Load):
            node, above = above, self._tree.parent(above)  # a view, fine where it is not kept
        if isinstance(above, (ast.BinOp, ast.Compare, ast.UnaryOp)):
            return True
        if isinstance(above, (ast.Tuple, ast.List, ast.Dict)):
            node, above = above, self._tree.parent(above)
        named = isinstance(above, ast.keyword)
        if above is not None and named:
            above = self._tree.parent(above)
        return isinstance(above, ast.Call) and self._call_only_reads(above, node, named)

    def _call_only_reads(self, call: ast.Call, given: ast.AST, named: bool) -> bool:
        name = self._names.qualified(call.func)
        if name is None:
            builtin = called(call)
            plain = isinstance(given, (ast.Name, ast.Subscript))
            return plain and builtin in _READS and self._bindings.home(builtin, call) is None
        if name.startswith(_CONVERTS):
            return not name.startswith(_GIVES_AWAY)
        starred = any(isinstance(each, ast.Starred) for each in call.args)
        if starred or any(each.arg in _CHANGES for each in call.keywords):
            return False
        read = _ONLY_READ.get(name, 0)
        return bool(read) and (named or given in call.args[:read])
