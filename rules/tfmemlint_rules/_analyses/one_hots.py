"""Labels that are written out as rows of zeros with a one, and the losses that want them so."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.known_data import LABELS
from tfmemlint.facts.library.makers import argument, given_back
from tfmemlint.facts.sizes.ready import Ready
from tfmemlint.facts.sizes.rows import IDENTITIES
from tfmemlint.facts.syntax.bindings import How
from tfmemlint.facts.syntax.nodes import is_literal
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple
from tfmemlint_rules._analyses.different_words import DifferentWords

if TYPE_CHECKING:
    from tfmemlint.facts.syntax.names import Names

_MAX_HOPS = 14
A_FEW = 32
"""Classes, whose rows are 256 bytes: less than most of what is labelled."""
_CATEGORICAL = frozenset({"keras.utils.to_categorical", "tensorflow.one_hot"})
_IDENTITIES = frozenset(IDENTITIES)
_KEEPS = frozenset(
    {
        *("numpy.array", "numpy.asarray", "tensorflow.cast", "tensorflow.constant"),
        "tensorflow.convert_to_tensor",
    }
)
_KEEPING = frozenset({"astype", "reshape"})
"""Methods that give back the rows they are asked of."""
_EMBEDDINGS = frozenset({"keras.layers.Embedding"})
_STEPS = frozenset({"GRU", "LSTM", "RNN", "SimpleRNN", "ConvLSTM2D"})
"""Layers that give what comes last of a sequence, unless they are to give all of it."""
_TOGETHER = ("Flatten", "Global")
_TRAINS = frozenset({"evaluate", "fit"})
_TRAINS_BATCHES = "fit_generator"
_SPARSE_NAMES = {
    "categorical_crossentropy": "sparse_categorical_crossentropy",
    "CategoricalCrossentropy": "SparseCategoricalCrossentropy",
}
_NUMBERS = {word: word for word in _SPARSE_NAMES.values()}
_SPARSE_METRICS = {
    "accuracy": "accuracy",
    "acc": "acc",
    "Accuracy": "Accuracy",
    "categorical_accuracy": "sparse_categorical_accuracy",
    "CategoricalAccuracy": "SparseCategoricalAccuracy",
    "categorical_crossentropy": "sparse_categorical_crossentropy",
    "top_k_categorical_accuracy": "sparse_top_k_categorical_accuracy",
    "TopKCategoricalAccuracy": "SparseTopKCategoricalAccuracy",
}
_PLAIN_METRICS = frozenset({"keras.metrics.Mean", "keras.metrics.Sum"})
_MODULES = ("keras.losses.", "keras.metrics.")


class Rename(NamedTuple):
    """A word of a loss or a metric, and what it is for labels that are numbers."""

    node: ast.Constant | ast.Attribute
    word: str


class OneHot(NamedTuple):
    """Labels of all the data as rows, one number for each class."""

    node: ast.expr
    name: str
    """What makes the rows: `to_categorical`, `tf.one_hot`, `np.eye`."""
    labels: ast.expr
    classes: ast.expr | None
    width: int
    """Bytes of each number."""


def _gives_sequences(layer: ast.Call) -> bool:
    given = argument(layer, None, "return_sequences")
    return given is not None and not is_literal(given, False)


def _is_softmax(activation: ast.expr | None, names: Names) -> bool:
    if isinstance(activation, ast.Constant):
        return activation.value == "softmax"
    return (names.qualified(activation) or "").endswith(".softmax")


def _is_reshaped(node: ast.expr) -> bool:
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr == "reshape"


def _parts(node: ast.expr | None) -> Iterable[ast.expr]:
    """What stands there for each of a model's outputs: labels, or losses."""
    if isinstance(node, (ast.List, ast.Tuple)):
        return node.elts
    if isinstance(node, ast.Dict):
        return node.values
    return () if node is None else (node,)


class OneHots:
    """Such labels of a file, that end in a loss which has a form for numbers as well."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._loops = tf.loops
        self._names = tf.names
        self._bindings = tf.bindings
        self._flow = tf.flow
        self._ways = tf.sources
        self._values = tf.values
        self._per_batch = tf.per_batch
        self._growths = tf.growths
        self._tracing = tf.tracing
        self._tapes = tf.tapes
        self._imports = tf.imports
        self._words = tf.of(DifferentWords)
        self._ready = tf.of(Ready)
        self._passed: dict[ast.expr, list[ast.expr]] = {}

    @cached_property
    def all(self) -> tuple[OneHot, ...]:
        """Every one, in source order; none where any loss or metric wants rows, or is unknown."""
        if not self._made or self.renames is None:
            return ()
        here = self._ends_of(self._made)
        ends, found = {**self._ends_elsewhere, **here}, list[OneHot]()
        for each in (self._made[node] for node in self._made if node in ends):
            several = ends[each.node]
            whole = self._is_whole(each.node if several is None else several)
            is_told = each.node in here and bool(self.renames)
            if whole and not self._is_little(each) and (is_told or self._are_many(each)):
                found.append(each if several is None else each._replace(labels=several))
        return tuple(found)

    @cached_property
    def is_at_home(self) -> bool:
        """Whether no other file gives rows of this one to a model."""
        return not self._ends_elsewhere

    @cached_property
    def _ends_elsewhere(self) -> Mapping[ast.expr, ast.expr | None]:
        """The rows that files give to models which import this one."""
        several = [each.of(OneHots)._ends_of(self._made) for each in self._imports.importers]
        return {node: end for ends in several for node, end in ends.items()}

    def _ends_of(self, made: Container[ast.expr]) -> Mapping[ast.expr, ast.expr | None]:
        """The rows among these that losses of this file compare, or its models are trained on.

        Each with the list that it is one of, if they are made one by one.
        """
        if self.renames is None:
            return {}
        sinks = [*self._fitted(), *self._compared()]
        ways = [each for sink in sinks for each in self._sources(sink, None, (), None, made)]
        return dict(reversed(ways))

    def _are_many(self, found: OneHot) -> bool:
        """Whether rows are so long that no loss is worth them, whichever it is."""
        return (self.classes(found) or 0) > A_FEW or self._is_of_words(found)

    def _is_little(self, found: OneHot) -> bool:
        """Whether each example is known to have one label, of a few classes."""
        labels = self._values.of(found.labels)
        if labels.shape is None:
            return self._tells_a_few or self._is_told_a_few(found)
        if any(axis != 1 for axis in labels.shape[1:]):
            return False
        classes = self.classes(found)
        if classes is not None:
            return classes <= A_FEW
        return self._tells_a_few or (found.classes is None and not self._tells_many)

    def _is_told_a_few(self, found: OneHot) -> bool:
        """Whether nothing says that there are many classes, or labels for pixels and time steps."""
        classes = self.classes(found)
        if classes is None:  # as many as the labels have, or as somebody has counted
            many = bool(self._layers) and self._tells_many
            return not many and not self._is_of_words(found)
        return classes <= A_FEW and not self._tells_parts

    def _is_of_words(self, found: OneHot) -> bool:
        """Whether labels are words, as many as an embedding has rows: the next one is told."""
        if self._words.are_looked_up(found.labels):
            return True
        ends = self._come_from(found.classes) if found.classes is not None else ()
        return any(each in self._vocabularies or self._words.are_counted(each) for each in ends)

    @cached_property
    def _vocabularies(self) -> frozenset[ast.AST]:
        """Where the numbers come from of what embeddings know."""
        rows = (argument(call, 0, "input_dim") for call, _ in self._names.calls(_EMBEDDINGS))
        return frozenset(end for each in rows if each is not None for end in self._come_from(each))

    def _come_from(self, number: ast.expr) -> frozenset[ast.AST]:
        return frozenset(each.node for each in self._ways.same(number))

    @cached_property
    def _tells_many(self) -> bool:
        """Whether a model tells many classes, or one of each part of an example.

        Its last layer has a softmax, or none in the file has.
        """
        if self._tells_parts:
            return True
        bare: list[float | None] = []
        told: list[float | None] = []
        for call, name in self._layers:
            if name == "Dense":
                activation = argument(call, 1, "activation")
                units = self._values.number(argument(call, 0, "units"))
                if activation is None:
                    bare.append(units)
                elif _is_softmax(activation, self._names):
                    told.append(units)
            elif bare and (name == "Softmax" or _is_softmax(argument(call, 0, ""), self._names)):
                told.append(bare[-1])  # `Dense(kinds)`, and `Activation("softmax")` behind it
        return any(each is not None and each > A_FEW for each in told or bare)

    @cached_property
    def _tells_parts(self) -> bool:
        """Whether a model tells a class of each pixel, step or word."""
        parts = False
        for call, name in self._layers:
            softmax = _is_softmax(argument(call, None, "activation"), self._names)
            if (name.startswith("Conv") or parts) and softmax:
                return True
            if name == "TimeDistributed" or _gives_sequences(call):
                parts = True
            elif name in _STEPS or name.startswith(_TOGETHER):
                parts = False
        return parts or not any(name == "Dense" for _, name in self._layers)

    @cached_property
    def _layers(self) -> list[tuple[ast.Call, str]]:
        """The layers of a file, in source order, which is that of most networks."""
        found = [(call, self._names.qualified(call.func) or "") for call in self._calls]
        return [
            (call, name.rpartition(".")[2])
            for call, name in found
            if name.startswith("keras.layers.")
        ]

    @cached_property
    def _calls(self) -> list[ast.Call]:
        return sorted(self._tree.all(ast.Call), key=lambda each: (each.lineno, each.col_offset))

    def classes(self, found: OneHot) -> float | None:
        """How many numbers a label becomes, where that is said or known of the data set."""
        classes = self._values.number(found.classes)
        known = self._ready_labels(found) if classes is None else ()
        return max((kinds for _, kinds in known), default=classes)

    def at_most(self, found: OneHot) -> int | None:
        """How many labels there are at most, of data sets that libraries have ready."""
        return sum(labels for labels, _ in self._ready_labels(found)) or None

    def _ready_labels(self, found: OneHot) -> list[tuple[int, int]]:
        """The labels and classes of such data sets, where an example is known to have one label."""
        shape = self._values.of(found.labels).shape
        several = self._tells_parts if shape is None else any(axis != 1 for axis in shape[1:])
        loaders = () if several else self._ready.loaders(found.labels)
        return [LABELS[each] for each in loaders] if LABELS.keys() >= {*loaders} else []

    @cached_property
    def _tells_a_few(self) -> bool:
        """Whether all models of the file tell one of a few classes, once for each example.

        Labels have as many numbers in a row as the layer that they are compared with.
        """
        found: list[float | None] = []
        if self._tells_parts:
            return False
        for call, name in self._layers:
            place = {"Dense": 1, "Activation": 0, "Softmax": 0}.get(name)
            activation = argument(call, place, "activation")
            if name == "Softmax" or _is_softmax(activation, self._names):
                is_dense = name == "Dense"
                found.append(self._values.number(argument(call, 0, "units")) if is_dense else None)
        return bool(found) and all(each is not None and each <= A_FEW for each in found)

    def _is_whole(self, node: ast.expr) -> bool:
        """Whether this is done once, to all labels."""
        if self._tracing.why(node) is not None or self._tapes.recording(node):
            return False
        return self._per_batch.runs_once(node) and not self._loops.around(node)

    # What is made.

    @cached_property
    def _made(self) -> Mapping[ast.expr, OneHot]:
        found: dict[ast.expr, OneHot] = {}
        for call, name in self._names.calls(_CATEGORICAL):
            of_keras = name != "tensorflow.one_hot"
            labels = argument(call, 0, "x" if of_keras else "indices")
            labels = labels or argument(call, 0, "y")
            classes = argument(call, 1, "num_classes" if of_keras else "depth")
            more = {each.arg for each in call.keywords}
            more -= {"x", "y", "num_classes", "indices", "depth", "dtype"}
            if labels is not None and not more and len(call.args) <= 2:
                word = name.rpartition(".")[2]
                found[call] = OneHot(call, word, labels, classes, 8 if of_keras else 4)
        for rows in self._tree.all(ast.Subscript):
            match rows.value:
                case ast.Call(args=[classes]) as made if self._names.is_any(made.func, _IDENTITIES):
                    if not isinstance(rows.slice, (ast.Slice, ast.Tuple, ast.Constant)):
                        found[rows] = OneHot(rows, "np.eye", rows.slice, classes, 8)
                case _:
                    pass
        return dict(sorted(found.items(), key=lambda each: (each[0].lineno, each[0].col_offset)))

    # Where labels end.

    def _fitted(self) -> Iterator[ast.expr]:
        """The labels that models are trained on and compared with."""
        for call, method in self._tree.methods(*_TRAINS, _TRAINS_BATCHES):
            if method.attr != _TRAINS_BATCHES:
                yield from _parts(argument(call, 1, "y"))
            checked = next((each.value for each in call.keywords if each.arg == _VALIDATION), None)
            if isinstance(checked, (ast.Tuple, ast.List)) and len(checked.elts) > 1:
                yield from _parts(checked.elts[1])

    def _compared(self) -> Iterator[ast.expr]:
        """What losses and metrics compare predictions with."""
        for call, name in self._losses:
            given = argument(call, 0, "y_true") if name is None or name.islower() else None
            if given is not None and not self._is_handed(argument(call, 1, "y_pred")):
                yield given
        for call, _ in self._tree.methods("update_state"):
            if call.args:
                yield call.args[0]

    def _is_handed(self, predicted: ast.expr | None, hops: int = 4) -> bool:
        """Whether a function is given what a model said: it is a loss, and is asked of batches."""
        if isinstance(predicted, ast.Call):
            name = self._names.qualified(predicted.func) or ""
            inner = predicted.args[:1] if name.startswith("tensorflow.") else []
            return any(self._is_handed(each, hops) for each in inner)
        bindings = self._bindings.reaching(predicted) if isinstance(predicted, ast.Name) else ()
        return any(
            each.how is How.PARAMETER or (hops > 0 and self._is_handed(each.value, hops - 1))
            for each in bindings
        )

    @cached_property
    def _losses(self) -> list[tuple[ast.Call, str | None]]:
        """The calls of losses: functions of Keras by their name, and objects it makes."""
        found: list[tuple[ast.Call, str | None]] = []
        for call in self._tree.all(ast.Call):
            name = self._names.qualified(call.func)
            if name is not None:
                if name.startswith(_MODULES):
                    found.append((call, name.rpartition(".")[2]))
            elif isinstance(call.func, (ast.Name, ast.Attribute)) and len(call.args) > 1:
                origins = self._flow.origins(call.func) or ()
                made = [each.value for each in origins]
                if made and all(self._is_of_losses(each) for each in made):
                    found.append((call, None))
        return found

    def _is_of_losses(self, node: ast.expr) -> bool:
        return self._names.called(node).startswith(_MODULES)

    # What the losses are.

    @cached_property
    def renames(self) -> tuple[Rename | None, ...] | None:
        """What to call losses and metrics for numbers; None where not all of them have a form.

        With None in it where that cannot be written, for what is imported by its own name, and
        empty where the file tells no loss.
        """
        found: list[Rename | None] = []
        for call, _ in self._tree.methods("compile"):
            loss = self._assigned(argument(call, 1, "loss"))
            metrics = self._assigned(argument(call, 2, "metrics"))
            for each in _parts(loss):
                renamed = self._renamed(each, _SPARSE_NAMES)
                if renamed:
                    found += renamed
                elif self._renamed(each, _NUMBERS) is None:
                    return None
            for each in _parts(metrics):
                metric = self._renamed(self._assigned(each), _SPARSE_METRICS)
                if metric is None:
                    return None
                found += metric
        for call, name in self._losses:
            if name is None or name in _PLAIN or any(call is each for each in self._in_compile):
                continue
            named = call.func if name.islower() else call
            renamed = self._renamed(named, _SPARSE_ALL)
            if renamed is None and self._renamed(named, _NUMBERS) is not None:
                continue
            if renamed is None and not self._is_metric(call):
                return None
            found += renamed or (None,)
        return tuple(dict.fromkeys(found))

    @cached_property
    def _in_compile(self) -> list[ast.AST]:
        calls = (call for call, _ in self._tree.methods("compile"))
        return [node for call in calls for node in ast.walk(call)]

    def _is_metric(self, call: ast.Call) -> bool:
        """Whether a call makes a metric, which may be asked of anything."""
        module, _, name = (self._names.qualified(call.func) or "").rpartition(".")
        return module == "keras.metrics" and not name.islower()

    def _assigned(self, node: ast.expr | None) -> ast.expr | None:
        return self._bindings.assigned(node) or node

    def _renamed(
        self, node: ast.expr | None, words: Mapping[str, str]
    ) -> tuple[Rename | None, ...] | None:
        """What to write instead of the name of one loss or metric; None where it has no form."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            word = words.get(node.value)
            if word is None:
                return None
            return () if word == node.value and words is _SPARSE_METRICS else (Rename(node, word),)
        named = node.func if isinstance(node, ast.Call) else node
        name = self._names.qualified(named) or ""
        if name in _PLAIN_METRICS:
            return ()
        word = words.get(name.rpartition(".")[2]) if name.startswith(_MODULES) else None
        smoothed = isinstance(node, ast.Call) and any(
            each.arg in (None, "axis", "label_smoothing") for each in node.keywords
        )
        if word is None or smoothed or (isinstance(node, ast.Call) and len(node.args) > 1):
            return None
        return (Rename(named, word) if isinstance(named, ast.Attribute) else None,)

    # How labels come there.

    def _sources(
        self,
        node: ast.expr,
        frame: Frame | None,
        path: tuple[int, ...],
        several: ast.expr | None,
        made: Container[ast.expr],
        hops: int = _MAX_HOPS,
    ) -> Iterator[tuple[ast.expr, ast.expr | None]]:
        """The rows that an expression may be, whole or cut along their first axis.

        Each with the list that many of them are put into, if they are made one by one.
        """
        if several is not None and isinstance(node, ast.Subscript) and node.value in made:
            node = node.value  # `to_categorical([word], words)[0]`
        if node in made and not path:
            yield node, several
        elif hops:
            self._passed.setdefault(node, [])
            for value, inner, rest in self._before(node, frame, path):
                yield from self._sources(value, inner, rest, several, made, hops - 1)
            named = isinstance(node, (ast.Attribute, ast.Name)) and several is None and not path
            grown = self._growths.of(node, frame) if named else ()
            for each in (each for growth in grown for each in growth.elements):
                yield from self._sources(each, frame, (), node, made, hops - 1)

    def _before(
        self, node: ast.expr, frame: Frame | None, path: tuple[int, ...]
    ) -> Iterator[tuple[ast.expr, Frame | None, tuple[int, ...]]]:
        if path and isinstance(node, (ast.Tuple, ast.List)):
            if path[0] < len(node.elts):
                yield node.elts[path[0]], frame, path[1:]
        elif isinstance(node, (ast.Name, ast.Attribute)):
            for origin in self._flow.origins(node, frame) or ():
                yield origin.value, origin.frame, (*origin.path, *path)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, (ast.Slice, ast.Name)):
            yield node.value, frame, path
        elif isinstance(node, ast.Call):
            yield from self._before_call(node, frame, path)

    def _before_call(
        self, node: ast.Call, frame: Frame | None, path: tuple[int, ...]
    ) -> Iterator[tuple[ast.expr, Frame | None, tuple[int, ...]]]:
        name = self._names.qualified(node.func)
        given, inner = given_back(name, node, path) or (None, path)
        if given is not None:
            yield given, frame, inner
        elif name in _KEEPS and node.args:
            yield node.args[0], frame, path
        elif isinstance(node.func, ast.Attribute) and name is None and node.func.attr in _KEEPING:
            yield node.func.value, frame, path
        else:
            for returned in self._flow.returned(node, frame):
                yield returned.value, returned.frame, (*returned.path, *path)

    def is_only_compared(self, found: Iterable[OneHot]) -> bool:
        """Whether the rows go nowhere but to the losses, as far as their names tell."""
        if any(map(_is_reshaped, self._passed)):  # to a shape with an axis of classes
            return False
        return all(self._goes_there_alone(each.node) for each in found)

    def _goes_there_alone(self, node: ast.expr) -> bool:
        statement = self._tree.parent(node)
        if isinstance(statement, ast.Tuple):  # one of several things that are given back
            statement = self._tree.parent(statement)
        if node in self._passed:
            return True
        if isinstance(statement, ast.expr) and statement in self._passed:
            return True
        if isinstance(statement, ast.Call):
            return self._is_label(statement, node)
        if isinstance(statement, ast.Return):
            return True
        if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
            return False
        readers = self._bindings.read_of(statement.targets[0])
        return bool(readers) and all(each in self._passed for each in readers)

    def _is_label(self, call: ast.Call, node: ast.expr) -> bool:
        """Whether a model is given the rows where they are made."""
        method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        return method in _TRAINS and argument(call, 1, "y") is node


_VALIDATION = "validation_data"
_SPARSE_ALL = {**_SPARSE_METRICS, **_SPARSE_NAMES}
_PLAIN = frozenset({"Mean", "Sum"})
