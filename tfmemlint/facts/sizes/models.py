"""What models hold: the numbers of their weights, and what a step has of activations."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame, entered
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.sizes import applications, layers
from tfmemlint.facts.sizes.amounts import AT_LEAST, Amount, count, held, product, total
from tfmemlint.facts.sizes.arrays import Arrays, bytes_of
from tfmemlint.facts.sizes.layer_calls import Dims, Layer
from tfmemlint.facts.sizes.layer_runs import FLOAT, Run, unseen
from tfmemlint.facts.sizes.networks import Networks
from tfmemlint.facts.sizes.numbers import Numbers
from tfmemlint.facts.syntax.nodes import same_code

_MOST = 400
"""Layers of one model."""
_UNSEEN = Amount(("activations",), of_bytes=True)
_DEEPEST = 2
"""Calls into each other, of what a tape records."""
_RECORDED = Amount(("what is recorded",), of_bytes=True)
_WRAPS = frozenset({"keras.Model"})


class Models:
    """Models as code makes and calls them."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._functions = tf.functions
        self._bodies = tf.bodies
        self._names = tf.names
        self._flow = tf.flow
        self._values = tf.values
        self._arrays = tf.of(Arrays)
        self._networks = tf.of(Networks)
        self._numbers = tf.of(Numbers)

    def runs(
        self, callee: ast.expr, given: Dims | None, frame: Frame | None = None
    ) -> list[Run] | None:
        """The layers that a model runs for an input; None where not all are in sight."""
        made = self._values.of(callee, frame).origin
        if not isinstance(made, ast.Call):
            return None
        home = self._tree.elsewhere(made)
        if home is not None:  # what is added to it stands beside it
            return home.models.runs(made, given, frame)
        name = self._names.qualified(made.func) or ""
        if name in _WRAPS:
            return self._functional(made, given)
        owner = self._functions.definition(made.func)
        if isinstance(owner, ast.ClassDef):
            return self._of_class(owner, callee, given)
        row = self._added(callee, made) if name == "keras.Sequential" else None
        row = self._networks.row_of(callee, frame) if row is None else row
        return None if row is None else self._in_a_row(row, given)

    def weights_of(self, made: ast.AST) -> Amount | None:
        """The bytes of the weights of a model that code makes, where they are known."""
        runs = self.runs(made, None) if isinstance(made, ast.expr) else None
        return self.weights(runs) if runs else None

    def weights(self, runs: list[Run]) -> Amount | None:
        """The bytes of the weights of layers, each layer counted once."""
        distinct = {(each.layer.made, each.layer.frame): each.weights for each in runs}
        known = [each for each in distinct.values() if each is not None]
        return held(sum(known) * FLOAT) if len(known) == len(distinct) else None

    def trained(self, runs: list[Run]) -> Amount | None:
        """As `weights`, of those that training changes: none that are frozen."""
        if self._frozen is None and any(each.is_ready_made for each in runs):
            return None
        frozen = self._frozen or frozenset()
        return self.weights([each for each in runs if each.layer.made not in frozen])

    @cached_property
    def _frozen(self) -> frozenset[ast.expr] | None:
        """What is told not to be trained, by what makes it; None where some is, out of sight."""
        found: set[ast.expr] = set()
        for assignment in self._tree.all(ast.Assign):
            target = assignment.targets[0]
            if not isinstance(target, ast.Attribute) or target.attr != "trainable":
                continue
            made = self._values.of(target.value).origin
            given = assignment.value
            if made is None or not isinstance(given, ast.Constant) or given.value is not False:
                return None
            found.add(made)
        return frozenset(found)

    def activations(self, runs: list[Run] | None, *, trains: bool) -> Amount:
        """The bytes that a step holds: all outputs where they are kept for gradients.

        And the gradient of the largest of them, which convolutions have twice: of what they give
        and of what they are given. Without gradients the largest output with its input.
        """
        sizes = [each.keeps if trains else each.gives for each in runs or ()]
        known = [each for each in sizes if each is not None]
        if not runs or len(known) < len(sizes):
            return _UNSEEN
        given = [each for each in (one.gives for one in runs) if each is not None]
        largest = max(given, key=lambda each: each.value or 0)
        if trains:
            slides = any(each.layer.name.startswith("Conv") for each in runs)
            return total([*known, largest, *([largest] if slides else [])])
        pairs = [one.plus(other) for one, other in pairwise(known)]
        return max([*pairs, largest], key=lambda each: each.value or 0)

    def eagerly(self, runs: list[Run]) -> Amount:
        """The bytes that layers hold one after the other in code that is not traced.

        Each has what it is given, what it makes of that, and the same before it is added to or
        bent; what the first of them is given is not its own.
        """
        sizes = [each.gives for each in runs]
        known = [each for each in sizes if each is not None]
        if not known or len(known) < len(sizes):
            return _UNSEEN
        twice = [each.plus(each) for each in known]
        every = [twice[0], *(one.plus(other) for one, other in zip(known, twice[1:], strict=False))]
        return max(every, key=lambda each: each.value or 0)

    def in_step(
        self, callee: ast.expr, rows: Amount, array: ast.expr, *, trains: bool = True
    ) -> Amount:
        """What a model holds of so many rows of an array: their activations, and themselves."""
        sized = self._arrays.of(array)
        if sized is None or not sized.dims:
            return rows.times(_UNSEEN)
        one = self.runs(callee, (count(1), *sized.dims[1:]))
        each = self.activations(one, trains=trains)
        if each == _UNSEEN or each.value is None:
            return rows.times(_UNSEEN)
        inputs = product(sized.dims[1:]).times(held(FLOAT))
        made = rows.times(each.plus(inputs).folded())
        return made._replace(stands_in=made.stands_in or sized.stands_in)

    def recorded(self, block: list[ast.stmt]) -> Amount:
        """The bytes of what the statements of a tape compute, each as often as loops run it."""
        found = self._recorded(block, None)
        if not found.value:
            return _RECORDED._replace(at_most=found.at_most)
        return found if found.at_most is not None else found._replace(notes=(AT_LEAST,))

    def _recorded(self, block: list[ast.stmt], frame: Frame | None) -> Amount:
        """The same, and what the functions compute that are called."""
        found = held(0)
        for node in (each for statement in block for each in ast.walk(statement)):
            if not isinstance(node, (ast.BinOp, ast.Call)):
                continue
            made = self._computed(node, frame)
            if made is None:
                found = found._replace(at_most=None)
                continue
            for loop in self._tree.loops(node):
                if any(self._tree.inside(loop, statement) for statement in block):
                    made = made.times(self._numbers.rounds(loop))
            found = found.plus(made.folded())
        return found

    def _computed(self, node: ast.BinOp | ast.Call, frame: Frame | None) -> Amount | None:
        """What an operation, or all the layers of a model, give; None where that is not known."""
        if self._values.of(node, frame).kind is Kind.NUMBER or self._tells(node):
            return held(0)
        sized = self._arrays.of(node, frame)
        if isinstance(node, ast.Call) and self._names.qualified(node.func) is None:
            function = self._functions.function(node.func)
            if isinstance(function, ast.FunctionDef):
                deep = frame is not None and frame.depth >= _DEEPEST
                inner = None if deep else entered(function, node, frame)
                return self._recorded(function.body, inner) if inner is not None else None
            if self._values.of(node.func).kind not in (Kind.LAYER, Kind.MODEL):
                return None
            given = self._arrays.of(node.args[0], frame) if node.args else None
            runs = self.runs(node.func, given.dims if given is not None else None)
            kept = [each.keeps for each in runs or ()]
            known = [each for each in kept if each is not None]
            return total(known) if runs and len(known) == len(kept) else None
        return bytes_of(sized) if sized is not None and sized.dims is not None else None

    def _tells(self, node: ast.expr) -> bool:
        """Whether a call tells a tape what to record, or people what there is."""
        if not isinstance(node, ast.Call):
            return False
        if isinstance(node.func, ast.Name):
            return node.func.id == "print"
        return isinstance(node.func, ast.Attribute) and node.func.attr == "watch"

    def _in_a_row(self, row: list[Layer], given: Dims | None) -> list[Run]:
        found: list[Run] = []
        for layer in row:
            if layer.name == "InputLayer":
                shape = layer.several("shape")
                stated = (count(1), *map(count, shape)) if shape is not None else None
                if given is None and stated is not None:
                    given = stated
                continue
            told = layer.several("input_shape")
            width = layer.one("input_dim")
            if given is None and told is None and width and layer.name == "Dense":
                told = (width,)
            if given is None and told is not None:
                given = (count(1), *map(count, told))
            if given is None and applications.is_ready_made(layer.name):
                given = (count(1),)
            made = layers.output(layer, [given]) if given is not None else None
            found.append(Run(layer.made, layer, (given,) if given is not None else (), made))
            given = made
        return found

    def _added(self, callee: ast.expr, made: ast.Call) -> list[Layer] | None:
        """The layers that are added to a `Sequential` one by one."""
        if argument(made, 0, "layers") is not None:
            return None
        if not isinstance(callee, ast.Name):  # `model = Sequential()`, by what it is called
            given = self._tree.parent(made)
            callee = given.targets[0] if isinstance(given, ast.Assign) else callee
        if not isinstance(callee, (ast.Attribute, ast.Name)):
            return None
        found: list[Layer] = []
        for call, method in self._tree.methods("add"):
            if call.args and self._is_same(method.value, callee, made):
                inner = self._networks.row_of(call.args[0])
                if inner is None:
                    return None
                found += inner
        return found or None

    def _is_same(self, model: ast.expr, called: ast.Name | ast.Attribute, made: ast.Call) -> bool:
        """Whether what layers are added to is what a call made, by what that is called."""
        if isinstance(called, ast.Attribute):
            if not isinstance(model, ast.Attribute) or model.attr != called.attr:
                return False
            here = self._tree.function(model) is self._tree.function(made)
            return here and same_code(model.value, called.value)
        if not isinstance(model, ast.Name) or model.id != called.id:
            return False
        if self._bindings.home(model.id, model) is not self._bindings.home(called.id, called):
            return False
        bound = self._bindings.reaching(model)
        return any(each.value is made for each in bound) or self._values.of(model).origin is made

    def _functional(self, made: ast.Call, given: Dims | None) -> list[Run] | None:
        """The layers between the inputs of a model and its outputs, backwards."""
        outputs = argument(made, 1, "outputs")
        batch = given[0] if given else count(1)
        found: dict[tuple[ast.AST, Frame | None], Run] = {}
        pending: list[tuple[ast.expr, Frame | None]] = [(outputs, None)] if outputs else []
        seen: set[tuple[ast.expr, Frame | None]] = set()
        for node, frame in pending:
            if len(pending) > _MOST * 4:
                return None
            if (node, frame) in seen:
                continue
            seen.add((node, frame))
            if isinstance(node, (ast.List, ast.Tuple)):
                pending += [(each, frame) for each in node.elts]
            elif isinstance(node, ast.Name):
                origins = self._flow.origins(node, frame) or ()
                pending += [(each.value, each.frame) for each in origins]
            elif isinstance(node, ast.Attribute) and node.attr == "output":
                for layer in self._networks.row_of(node.value, frame) or ():
                    made_of = self._networks.output_of(node.value, frame)
                    found.setdefault((layer.made, None), Run(layer.made, layer, (), made_of))
            elif isinstance(node, ast.Call):
                returned = [*self._flow.returned(node, frame)]
                pending += [(each.value, each.frame) for each in returned]
                given_to = [] if returned else layers.several_given(node, None) or node.args
                pending += [(each, frame) for each in given_to]
                for run in self._applied(node, frame, batch):
                    key = run.node if isinstance(run.node, ast.Call) else node
                    found[key, frame] = run
        return [*found.values()][::-1] or None

    def _applied(self, node: ast.Call, frame: Frame | None, batch: Amount) -> Iterator[Run]:
        value = self._values.of(node.func, frame)
        if value.kind not in (Kind.LAYER, Kind.MODEL) or not node.args:
            return
        row = self._networks.row_of(node.func, frame)
        sized = [self._arrays.of(each, frame) for each in layers.several_given(node, row)]
        inputs = tuple((batch, *each.dims[1:]) for each in sized if each is not None and each.dims)
        if len(inputs) < len(sized):
            inputs = ()
        inner = None if row is not None or not inputs else self.runs(node.func, inputs[0], frame)
        if row is None and inner is None:
            yield Run(node, unseen(node), inputs, None)
        yield from inner or ()
        for place, layer in enumerate(row or ()):
            made = layers.output(layer, inputs)
            yield Run(node if not place else layer.made, layer, inputs, made)
            inputs = (made,) if made is not None else ()

    def _of_class(
        self, owner: ast.ClassDef, callee: ast.expr, given: Dims | None
    ) -> list[Run] | None:
        """The layers that the `call` of a class applies, in order."""
        method = self._functions.method(owner, "call")
        if method is None or isinstance(method, ast.Lambda) or len(method.args.args) < 2:
            return None
        found: list[Run] = []
        known = {method.args.args[1].arg: given}
        for node in self._bodies.body(method):
            if not isinstance(node, (ast.Assign, ast.Return)) or node.value is None:
                continue
            made = self._evaluated(node.value, known, found)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                known[node.targets[0].id] = made
        return found or None

    def _evaluated(
        self, node: ast.expr, known: dict[str, Dims | None], found: list[Run]
    ) -> Dims | None:
        """The shape of an expression within `call`, and the layers it runs on the way."""
        if isinstance(node, ast.Name):
            return known.get(node.id)
        if isinstance(node, ast.BinOp):
            left = self._evaluated(node.left, known, found)
            return left or self._evaluated(node.right, known, found)
        if not isinstance(node, ast.Call):
            return None
        row = self._networks.row_of(node.func)
        several = layers.several_given(node, row)
        inputs: list[Dims | None] = [self._evaluated(each, known, found) for each in several]
        if row is None:
            name = self._names.qualified(node.func) or ""
            if inputs and name.startswith(("tensorflow.nn.", "keras.activations.")):
                return inputs[0]
            if self._values.of(node.func).kind in (Kind.LAYER, Kind.MODEL):
                found.append(Run(node, unseen(node), (), None))
            return None
        given = tuple(each for each in inputs if each is not None)
        for layer in row:
            made = layers.output(layer, given) if len(given) == len(inputs) else None
            found.append(Run(node, layer, given, made))
            given, inputs = (made,) if made is not None else (), [made]
        return given[0] if given else None
