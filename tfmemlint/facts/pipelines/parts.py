"""What `from_tensor_slices` is given: arrays and lists, in tuples and dictionaries, by any name."""

from __future__ import annotations

import ast
from weakref import ref

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.pipelines.held import Tensor
from tfmemlint.facts.sizes.rows import as_array
from tfmemlint.facts.syntax.nodes import called

_MAX_HOPS = 5
_TOGETHER = (ast.Dict, ast.Tuple)


class Parts:
    """The arrays that are sliced together."""

    def __init__(self, tf: TensorFlow) -> None:
        self._flow = tf.flow
        self._stores = tf.stores
        self._tf = ref(tf)
        """Sizes are found with what pipelines give, and that with sizes."""

    def behind(self, given: ast.expr | None) -> ast.expr | None:
        """The tuple or dictionary that a name stands for; anything else as it is.

        None where other arrays may have been put in the place of those that stand there.
        """
        found = given
        for _ in range(_MAX_HOPS):
            if isinstance(found, _TOGETHER) or _is_dict(found):
                return found
            if not isinstance(found, (ast.Attribute, ast.Name)):
                return given
            before = self._flow.one_before(found)
            if before is None:
                return given
            found, binding = before.value, before.binding
            puts = self._stores.into(binding) if binding is not None else ()
            if isinstance(found, ast.Dict) and any(len(each.reads) == 1 for each in puts):
                return None
        return given

    def named(self, given: ast.expr | None) -> list[tuple[str | None, ast.expr]] | None:
        """The arrays of a dictionary by their keys; None for what is none, or has more in it."""
        if isinstance(given, ast.Dict):
            keys = (each.value if isinstance(each, ast.Constant) else None for each in given.keys)
            names = [key if isinstance(key, str) else None for key in keys]
            return [*zip(names, given.values, strict=True)]
        if isinstance(given, ast.Call) and _is_dict(given):
            return [(each.arg, each.value) for each in given.keywords]
        return None

    def first(self, given: ast.expr | None) -> ast.expr | None:
        """One of the arrays, which have as many rows each."""
        for _ in range(_MAX_HOPS):
            given = self._returned(self.behind(given))
            named = self.named(given)
            if isinstance(given, ast.Tuple):
                given = next(iter(given.elts), None)
            elif named is not None:
                given = next((each for _, each in named), None)
            else:
                return given
        return given

    def _returned(self, given: ast.expr | None) -> ast.expr | None:
        """The tuple or dictionary that a function in sight gives back; anything else as it is."""
        made = [*self._flow.returned(given, None)] if isinstance(given, ast.Call) else []
        found = [each.value for each in made if isinstance(each.value, _TOGETHER)]
        return found[0] if len(found) == len(made) > 0 else given

    def each(self, given: ast.expr) -> Tensor | None:
        """What one row is of an array or a list of arrays, by the sizes of what it is made of."""
        tf = self._tf()
        if tf is None:
            return None
        whole = tf.arrays.of(given)
        if whole is not None and whole.dims:
            found = whole._replace(dims=whole.dims[1:])
        else:
            kept = tf.arrays.elements(given)
            if kept is None or kept.dims is None:
                return None
            found = kept
        sizes = (int(each.value or 0) if each.is_certain else None for each in found.dims or ())
        return Tensor(as_array(found.dtype, tensor=True), tuple(sizes))


def _is_dict(node: ast.expr | None) -> bool:
    """Whether this is `dict(x=x, y=y)`."""
    plain = isinstance(node, ast.Call) and not node.args and bool(node.keywords)
    named = called(node) == "dict"
    return plain and named and all(each.arg for each in getattr(node, "keywords", ()))
