"""Traced functions that are made again and again: in a loop, by a factory, or at every call."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from functools import cached_property

from tfmemlint.facts import makers
from tfmemlint.facts.bindings import Binding, How
from tfmemlint.facts.functions import TF_FUNCTION
from tfmemlint.facts.kinds import Kind
from tfmemlint.facts.loops import Loop
from tfmemlint.facts.tree import FUNCTIONS, FunctionNode
from tfmemlint.facts.uses import Trail
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow

A_FEW = 8
"""As many as are worth no word: a handful of folds, of learning rates, of compared variants."""
_MAX_HOPS = 5

RUNS = frozenset({"experimental_run_v2", "run"})
"""Methods of distribution strategies that call what they are given."""

Definition = ast.FunctionDef | ast.AsyncFunctionDef
Made = Definition | ast.Call

_DATA = frozenset({Kind.ARRAY, Kind.DATASET, Kind.NUMBER, Kind.TENSOR})
"""What could be passed to a function instead of being read by it."""


class Remake(NamedTuple):
    """One traced function that is made many times, and called each time."""

    made: Made | None
    """The decorated definition, or the call of `tf.function`; None where another file has it."""
    maker: Made
    """What stands in the code that repeats: `made`, or a call of the factory that holds it."""
    used: ast.Call
    """A call that has the new function traced."""
    loop: Loop | None
    """What repeats `maker`, or the calls of `within`; None where callers are out of sight."""
    within: FunctionNode | None
    """The function whose every call makes another; None where `maker` stands in the loop itself."""


class Remakes:
    """What is wrapped in `tf.function` where that happens more than once."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._values = tf.values
        self._loops = tf.loops
        self._tracing = tf.tracing
        self._uses = tf.uses
        self._imports = tf.imports

    @cached_property
    def all(self) -> tuple[Remake, ...]:
        """Every function remade, in source order of what repeats, each once."""
        found: dict[tuple[Made, Made], Remake] = {}
        for made in self.made:
            trails = self._trails(made)
            read = [name for name in self.free(made) if self.is_object(name)] if trails else []
            for trail in trails:
                used, only = self.call_with(trail[-1]), len(trails) == 1
                remake = self._remake(made, trail, used, read, only=only)
                if remake is not None:
                    found.setdefault((made, remake.maker), remake)
        for call, factory in self._imports.factories:
            given = self._read(self._imports.given(call, factory))
            if given is None:
                continue
            for trail in self._trails(call) if factory.gives else [(call,)]:
                used = self.call_with(trail[-1]) if factory.gives else call
                remake = self._remake(None, trail, used, given, only=False)
                if remake is not None and not self._is_reset(given, remake.loop):
                    found.setdefault((call, remake.maker), remake)
        ordered = sorted(found.items(), key=lambda each: (each[1].maker.lineno, each[0][0].lineno))
        return tuple(remake for _, remake in ordered)

    def free(self, made: Made) -> Iterator[ast.Name]:
        """The names a traced function, or one of this module it calls, reads from around it."""
        inside: list[ast.AST] = [made]
        wrapped = self.wrapped(made)
        if wrapped is not None and wrapped is not made:
            inside.append(wrapped)
        for node in inside:
            for name in ast.walk(node):
                if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load):
                    home = self._bindings.home(name.id, name)
                    if home is not None and not self._tree.inside(home, node):
                        yield name
                        called = self._functions.function(name)
                        if called is not None and called not in inside:
                            inside.append(called)

    def wrapped(self, made: Made) -> FunctionNode | None:
        """The function of this module that is traced, if in sight."""
        if not isinstance(made, ast.Call):
            return made
        given = _given(made)
        return self._functions.function(given) if given is not None else None

    def same_before(self, made: Made, loop: Loop) -> bool:
        """Whether the function, made before a loop, is the same one, traced to the same graph.

        It and what it calls in this module only compute, and read nothing that the loop binds or
        changes. What libraries and models do when they are called is taken to be that, too.
        """
        inside = self._run_with(made)
        outside: set[str] = set()
        for each in inside:
            for node in ast.walk(each):
                if self._does_more(node):
                    return False
                if isinstance(node, ast.Name) and not self._is_own(node, inside):
                    if not isinstance(node.ctx, ast.Load) or self._is_bound_in(node, loop, inside):
                        return False
                    outside.add(node.id)
        return not any(
            self._changes(node, outside)
            for node in ast.walk(self._extent(loop))
            if not any(self._tree.inside(node, each) for each in inside)
        )

    def is_known(self, made: Made) -> bool:
        """Whether all that the function runs is in sight, or TensorFlow's, Keras's and NumPy's.

        And whether nothing it reads is an object that other code may change meanwhile.
        """
        inside = self._run_with(made)
        if not all(
            self._is_own(node, inside) or self._is_settled(node)
            for each in inside
            for node in ast.walk(each)
            if isinstance(node, ast.Name)
        ):
            return False
        given = _given(made) if isinstance(made, ast.Call) else None
        if given is not None and self.wrapped(made) is None and not self._is_ready_made(given):
            return False
        calls = (node for each in inside for node in ast.walk(each) if isinstance(node, ast.Call))
        return all(
            self._functions.function(call.func) is not None
            or self._is_ready_made(call.func)
            or self._is_arguments(call.func, inside)
            for call in calls
        )

    def _is_arguments(self, callee: ast.expr, inside: list[ast.AST]) -> bool:
        """Whether a method is one of what the function is given, or of what it enters: a tape."""
        *_, root = _chain(callee)
        return (
            root is not callee
            and isinstance(root, ast.Name)
            and self._is_own(root, inside)
            and all(
                each.how in (How.PARAMETER, How.ENTERED) for each in self._bindings.reaching(root)
            )
        )

    def _is_settled(self, name: ast.Name) -> bool:
        """Whether a name means a function, a class, a constant, or what a library makes."""
        if len(self._bindings.reaching(name)) > 1 or self._values.of(name).kind is Kind.ARRAY:
            return False
        known = self._functions.definition(name) is not None or self._is_ready_made(name)
        return known or isinstance(self._value(name), ast.Constant)

    def _is_ready_made(self, callee: ast.expr) -> bool:
        """Whether an expression, or what it is an attribute of, comes from a library."""
        for each in _chain(callee):
            if self._names.qualified(each) is not None:
                return True
            if isinstance(each, ast.Call):
                return self._is_ready_made(each.func)
            if self._values.of(each).kind in _LIBRARY:
                return True
            made = getattr(self._value(each), "func", None)
            if (self._names.qualified(made) or "").startswith(("keras.", "tensorflow.")):
                return True
            if isinstance(each, ast.Name) and self._bindings.home(each.id, each) is None:
                return hasattr(builtins, each.id)
        return False

    def _run_with(self, made: Made) -> list[ast.AST]:
        """What is traced of this module: the function and those it calls."""
        inside: list[ast.AST] = [made]
        wrapped = self.wrapped(made)
        if wrapped is not None and wrapped is not made:
            inside.append(wrapped)
        for each in inside:
            calls = (node for node in ast.walk(each) if isinstance(node, ast.Call))
            called = (self._functions.function(call.func) for call in calls)
            inside += [found for found in called if found is not None and found not in inside]
        return inside

    def _is_own(self, name: ast.Name, inside: list[ast.AST]) -> bool:
        home = self._bindings.home(name.id, name)
        return home is not None and any(self._tree.inside(home, each) for each in inside)

    def _is_bound_in(self, name: ast.Name, loop: Loop, inside: list[ast.AST]) -> bool:
        return any(
            self._tree.inside(binding.node, self._extent(loop)) and binding.node not in inside
            for binding in self._bindings.reaching(name)
        )

    def _does_more(self, node: ast.AST) -> bool:
        """Whether a node of a traced function does, while it is traced, what a graph does not."""
        if isinstance(node, (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await)):
            return True
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            return True
        if not isinstance(node, ast.Call):
            return False
        name = self._names.qualified(node.func) or ""
        if isinstance(node.func, ast.Attribute):
            made = self._names.qualified(getattr(self._value(node.func.value), "func", None))
            drawn = made in makers.RANDOM_GENERATORS
            return drawn or node.func.attr in _MUTATES or name.startswith(_PYTHON_STATE)
        return getattr(node.func, "id", "") in _SPEAKS or name.startswith(_PYTHON_STATE)

    def _value(self, expression: ast.expr) -> ast.expr | None:
        binding = self._bindings.only(expression) if isinstance(expression, ast.Name) else None
        return binding.value if binding is not None else None

    def _changes(self, node: ast.AST, names: set[str]) -> bool:
        """Whether a node of a loop changes, or may change, what one of these names stands for."""
        if isinstance(node, (ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
            freezes = isinstance(node, ast.Attribute) and node.attr == "trainable"
            return freezes or _root(node) in names
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            held = node.func.value
            is_ours = isinstance(held, ast.Name) and self._functions.instance_of(held) is not None
            if (node.func.attr in _MUTATES or is_ours) and _root(node.func) in names:
                return True
        if isinstance(node, ast.Call) and not self._is_ready_made(node.func):
            given = (each for each in node.args if isinstance(each, ast.Name) and each.id in names)
            return any(self._is_plain_object(each) for each in given)
        return False

    def _is_plain_object(self, name: ast.Name) -> bool:
        """Whether a call that is given a name could change what it holds: a list, an object."""
        found = self._bindings.reaching(name)
        named = all(each.how in (How.DEFINED, How.IMPORTED) for each in found)
        return not (found and named) and not self._is_ready_made(name)

    @cached_property
    def made(self) -> tuple[Made, ...]:
        """Every traced function that is made: decorated definitions, and calls of `tf.function`."""
        return tuple(self._made())

    def _made(self) -> Iterator[Made]:
        if not self._names.mentions(TF_FUNCTION):
            return
        wraps = self._functions.makes_tf_function
        for definition in self._tree.all(ast.FunctionDef, ast.AsyncFunctionDef):
            is_method = self._functions.class_of(definition) is not None
            if not is_method and any(map(wraps, definition.decorator_list)):
                yield definition
        for call in self._tree.all(ast.Call):
            if _given(call) is not None and wraps(call.func):
                yield call

    def _trails(self, made: Made) -> list[Trail]:
        """The ways to the uses of what is made; none where something may keep it for later."""
        found: list[Trail] = []
        for start in self.starts(made):
            trails = self._uses.of(start)
            if trails is None or any(map(self.is_put_away, trails)):
                return []
            found += trails
        return found

    def starts(self, made: Made) -> list[ast.expr]:
        """The expressions that stand for what is made first: the call, or the definition's name."""
        if isinstance(made, ast.Call):
            return [made]
        starts: list[ast.expr] = []
        for binding in self._bindings.of(self._tree.scope(made), made.name):
            if binding.node is made:
                starts += self._bindings.readers(binding)
        return starts

    def is_put_away(self, trail: Trail) -> bool:
        """Whether a use may keep the function: `steps.append(step)`, `{"train": step}`."""
        above = self._tree.parent(trail[-1])
        looked_at = isinstance(above, (ast.Attribute, ast.Expr))
        return not looked_at and self.call_with(trail[-1]) is None

    def _remake(
        self,
        made: Made | None,
        trail: Trail,
        used: ast.Call | None,
        read: list[ast.Name],
        *,
        only: bool,
    ) -> Remake | None:
        """What the code on a trail makes again, where all it is made for stays the same."""
        calls = [each for each in trail if isinstance(each, ast.Call)]
        maker = calls[-1] if calls else made
        if maker is None or used is None:
            return None
        if self._tracing.why(maker) is not None or self._tree.is_conditional(maker):
            return None
        loop = self._many(maker, used)
        if loop is not None:
            private = any(self._renews(name, calls, self._extent(loop)) for name in read)
            private = private or self._is_rebuilt(read, calls, loop)
            return None if private else Remake(made, maker, used, loop, None)
        within = self._tree.function(maker)
        if within is not self._tree.function(used) or not isinstance(within, ast.FunctionDef):
            return None
        once = within.name == "__init__" or not all(map(is_plain, within.decorator_list))
        if once or any(self._renews(name, calls, within) for name in read):
            return None
        callers = self._functions.calls_of(within)
        for call in callers:
            loop = self._many(call, call)
            if (
                loop is None
                or self._tree.is_conditional(call)
                or self._tracing.why(call) is not None
            ):
                continue
            passed = self._passed(read, within, call)
            if not any(self._is_new(each, self._extent(loop)) for each in passed):
                return Remake(made, maker, used, loop, within)
        at_once = used.func is maker or (only and not self._loops.around(used))
        if callers or not at_once or not self._takes(within, used) or self._is_given(made):
            return None
        return Remake(made, maker, used, None, within)

    def call_with(self, use: ast.expr) -> ast.Call | None:
        """The call that runs a function at one of its uses, or hands it to what does."""
        call = self._tree.parent(use)
        if not isinstance(call, ast.Call):
            return None
        if call.func is use:
            return call
        runs = isinstance(call.func, ast.Attribute) and call.func.attr in RUNS
        if runs and call.args[:1] == [use]:
            return call
        function = self._functions.function(call.func)
        if function is None:
            return None
        for parameter in _parameters(function):
            if self._functions.argument(call, function, parameter.arg) is use:
                for binding in self._bindings.of(function, parameter.arg):
                    for reader in self._bindings.readers(binding):
                        above = self._tree.parent(reader)
                        if isinstance(above, ast.Call) and above.func is reader:
                            return call
        return None

    def _many(self, node: ast.AST, used: ast.AST) -> Loop | None:
        """The innermost loop around both that goes round more than a few times."""
        trips = 1
        for loop in self._loops.around(node):
            if loop not in self._loops.around(used):
                continue
            if not isinstance(loop.node, ast.comprehension):
                last = loop.node.body[-1]
                if isinstance(last, (ast.Break, ast.Return, ast.Raise)):
                    continue
            if loop.trips is None:
                return loop
            trips *= loop.trips
            if trips > A_FEW:
                return loop
        return None

    def _extent(self, loop: Loop) -> ast.AST:
        """The code a loop runs, and its header."""
        if isinstance(loop.node, ast.comprehension):
            return self._tree.parent(loop.node) or loop.node
        return loop.node

    def _is_given(self, made: Made | None) -> bool:
        """Whether callers say which function is traced: it may be another one each time."""
        given = _given(made) if isinstance(made, ast.Call) else None
        binding = self._bindings.only(given) if isinstance(given, ast.Name) else None
        return binding is not None and binding.how is How.PARAMETER

    def _takes(self, function: FunctionNode, used: ast.Call) -> bool:
        """Whether what a new function is called with comes from its maker's caller."""
        is_method = self._functions.class_of(function) is not None
        names = {each.arg for each in _parameters(function)[is_method:]}
        given = (*used.args, *(each.value for each in used.keywords))
        return any(
            isinstance(name, ast.Name) and name.id in names
            for each in given
            for name in ast.walk(each)
        )

    def _passed(
        self, read: list[ast.Name], within: FunctionNode, call: ast.Call
    ) -> Iterator[ast.expr | None]:
        """What a call gives `within` of all that the traced function reads from there."""
        for name in read:
            for binding in self._bindings.reaching(name):
                if binding.how is How.PARAMETER and self._tree.inside(binding.node, within):
                    yield self._taken(call, name)

    def _taken(self, call: ast.Call, name: ast.Name) -> ast.expr | None:
        """What a call gives its function for a parameter, be that the object of a method."""
        if self._functions.instance_of(name) and isinstance(call.func, ast.Attribute):
            return call.func.value
        function = self._functions.function(call.func)
        return None if function is None else self._functions.argument(call, function, name.id)

    def is_object(self, name: ast.Name) -> bool:
        """Whether what a traced function reads may be a model or the like: it is more than data."""
        above = self._tree.parent(name)
        if isinstance(above, ast.Attribute):
            return above.attr not in ("T", "dtype", "shape")
        if isinstance(above, ast.keyword):
            above = self._tree.parent(above)
        if not isinstance(above, ast.Call):
            return not isinstance(above, (ast.BinOp, ast.Compare, ast.UnaryOp))
        ours = self._functions.definition(above.func) is not None
        return above.func is name or ours or self._functions.makes_tf_function(above.func)

    def _renews(self, name: ast.Name, calls: list[ast.Call], container: ast.AST) -> bool:
        """Whether what the function reads is itself another object each time: a model, say."""
        factories = {self._functions.function(each.func): each for each in calls}
        for binding in self._bindings.reaching(name):
            if binding.how in (How.DEFINED, How.IMPORTED):
                continue
            if binding.how is How.PARAMETER:
                function = next(
                    each
                    for each in self._tree.ancestors(binding.node)
                    if isinstance(each, FUNCTIONS)
                )
                call = factories.get(function)
                if call is not None and self._is_new(self._taken(call, name), container):
                    return True
                continue  # of the container itself: its callers tell
            around = self._tree.function(binding.node)
            in_factory = around is not None and around in factories
            inside = in_factory or self._tree.inside(binding.node, container)
            if inside and self.is_own_object(binding):
                return True
        return False

    def is_own_object(self, binding: Binding) -> bool:
        """Whether a name is given more than data: something that a function is made for."""
        maker = self._names.qualified(getattr(binding.value, "func", None)) or ""
        is_metric = maker.startswith("keras.metrics.")  # one would do: it can be reset
        return not is_metric and self._values.bound(binding).kind not in _DATA

    def _read(self, given: Iterable[ast.expr | None]) -> list[ast.Name] | None:
        """The names of what a function is given to read; None where that is made for the call."""
        names: list[ast.Name] = []
        for each in given:
            if isinstance(each, (ast.Constant, ast.Lambda)):
                continue
            root = each
            while isinstance(root, ast.Attribute):
                root = root.value
            if not isinstance(root, ast.Name):
                return None
            names.append(root)
        return names

    def _is_reset(self, read: list[ast.Name], loop: Loop | None) -> bool:
        """Whether a loop sets what is read of an object: `self.model = build()`."""
        if loop is None:
            return False
        attributes = {ast.unparse(above) for name in read if (above := self._attribute(name))}
        return bool(attributes) and any(
            isinstance(each, ast.Attribute)
            and not isinstance(each.ctx, ast.Load)
            and ast.unparse(each) in attributes
            for each in ast.walk(self._extent(loop))
        )

    def _is_rebuilt(self, read: list[ast.Name], calls: list[ast.Call], loop: Loop) -> bool:
        """Whether a loop gives a model another structure, for which its graphs would be stale."""
        taken = (self._taken(call, name) for call in calls for name in read)
        names = {_root(each) for each in (*read, *taken) if each is not None} - {""}
        for node in ast.walk(loop.node):
            if isinstance(node, ast.Attribute) and _root(node) in names:
                freezes = node.attr == "trainable" and isinstance(node.ctx, ast.Store)
                done = isinstance(self._tree.statement(node), ast.Expr)
                if freezes or (done and node.attr.partition("_")[0] in _REBUILDS):
                    return True
        return False

    def _attribute(self, name: ast.Name) -> ast.Attribute | None:
        above = self._tree.parent(name)
        return above if isinstance(above, ast.Attribute) else None

    def _is_new(self, expression: ast.expr | None, container: ast.AST) -> bool:
        """Whether an expression gives another object each time its container runs."""
        if expression is None:
            return True
        if self._values.of(expression).kind in _DATA or isinstance(expression, ast.Constant):
            return False
        if isinstance(expression, ast.Lambda):
            return False
        if not isinstance(expression, (ast.Name, ast.Attribute)):
            return True
        names = (each for each in ast.walk(expression) if isinstance(each, ast.Name))
        return any(
            self._tree.inside(binding.node, container) and binding.how is not How.DEFINED
            for name in names
            for binding in self._bindings.reaching(name)
        )


_LIBRARY = _DATA | {Kind.LAYER, Kind.MODEL, Kind.VARIABLE}
_MUTATES = frozenset(
    {"add", "append", "clear", "discard", "extend", "insert", "pop", "popleft", "remove"}
    | {"appendleft", "setdefault", "sort", "update", "write"}
)
_REBUILDS = frozenset({"add", "freeze", "grow", "insert", "pop", "remove", "unfreeze"})
"""What the names of methods begin with that change which layers a model has, or trains."""
_SPEAKS = frozenset({"input", "next", "open", "print"})
_PYTHON_STATE = ("datetime.", "itertools.count", "numpy.random.", "random.", "time.", "uuid.")


def _given(call: ast.Call) -> ast.expr | None:
    """What a call of `tf.function` wraps."""
    if call.args:
        return None if isinstance(call.args[0], ast.Starred) else call.args[0]
    return next((each.value for each in call.keywords if each.arg == "func"), None)


def _chain(callee: ast.expr) -> Iterator[ast.expr]:
    """An expression and all that it is an attribute or element of, the innermost last."""
    yield callee
    while isinstance(callee, (ast.Attribute, ast.Subscript)):
        callee = callee.value
        yield callee


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def is_plain(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in ("classmethod", "staticmethod")


def _parameters(function: FunctionNode) -> list[ast.arg]:
    arguments = function.args
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
