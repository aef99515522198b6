"""Numbers that are multiples of the number of processors."""

from __future__ import annotations

import ast

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame

_MAX_HOPS = 5
_COUNTS = frozenset(
    {
        "joblib.cpu_count",
        "multiprocessing.cpu_count",
        "os.cpu_count",
        "os.process_cpu_count",
        "psutil.cpu_count",
    }
)


class Processors:
    """What a program makes of the number of processors it may use."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._flow = tf.flow
        self._values = tf.values

    def times(
        self, node: ast.expr, frame: Frame | None = None, hops: int = _MAX_HOPS
    ) -> float | None:
        """How many times the number of processors an expression is; None if it is none."""
        if isinstance(node, ast.Call):
            return self._called(node, frame, hops)
        if isinstance(node, ast.BoolOp):  # `os.cpu_count() or 1`
            return self.times(node.values[0], frame, hops)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                times, factor = self.times(one, frame, hops), self._values.number(other, frame)
                if times is not None and factor is not None:
                    return times * factor
        if isinstance(node, (ast.Name, ast.Attribute)) and hops:
            before = self._flow.one_before(node, frame)
            if before is not None:
                return self.times(before.value, before.frame, hops - 1)
        return None

    def _called(self, call: ast.Call, frame: Frame | None, hops: int) -> float | None:
        if self._names.is_any(call.func, _COUNTS):
            return 1.0
        given = call.args[0] if call.args else None
        if not isinstance(call.func, ast.Name) or given is None:
            return None
        if call.func.id == "int":
            return self.times(given, frame, hops)
        usable = isinstance(given, ast.Call) and (
            self._names.qualified(given.func) == "os.sched_getaffinity"
        )
        return 1.0 if call.func.id == "len" and usable else None
