"""Functions of the module: which definition an expression means, and who calls it with what."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from weakref import ref

from tfmemlint.facts.syntax.bindings import Binding, How, element, targets
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode, children
from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfmemlint.facts import TensorFlow
    from tfmemlint.facts.syntax.imports import Lead

_MAX_HOPS = 10

TF_FUNCTION = frozenset({"tensorflow.function"})
PARTIAL = frozenset({"functools.partial"})
STAYS_A_FUNCTION = TF_FUNCTION | PARTIAL | frozenset({"tensorflow.recompute_grad", "keras.remat"})
"""Calls that take a function first and give back one that runs it."""

KERAS_BASES = frozenset(
    {
        "keras.Layer",
        "keras.Model",
        "keras.Sequential",
        "keras.layers.AbstractRNNCell",
        "keras.layers.Layer",
        "keras.losses.Loss",
        "keras.metrics.Metric",
        "tensorflow.Module",
    }
)

KERAS_MODELS = frozenset({"keras.Model", "keras.Sequential"})


class Functions:
    """The call graph of one module, as far as names, `self` and simple assignments show it."""

    def __init__(self, tf: TensorFlow) -> None:
        self.tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._imports = tf.imports
        self._tf = ref(tf)
        """What is followed anywhere needs functions, and functions may be led to so."""
        self._definitions: dict[ast.expr, FunctionNode | ast.ClassDef | None] = {}
        self._called: dict[ast.AST, list[ast.Call]] | None = None
        self._abroad: dict[ast.Call, Lead] = {}
        """The calls of what other files define: who asks of no other file needs none of them."""
        self._led_into: dict[ast.Module, dict[ast.AST, list[ast.Call]]] = {}
        self._unnamed: set[ast.expr] = set()
        """What may be a definition, but by no name that leads there."""
        self._instances: dict[ast.expr, ast.ClassDef | None] = {}
        self._receivers: dict[ast.AST, ast.ClassDef | None] = {}
        self._lineages: dict[ast.ClassDef, tuple[ast.ClassDef, ...]] = {}
        self._methods: dict[ast.ClassDef, dict[str, FunctionNode]] = {}
        self._homes_between: dict[ast.ClassDef, tuple[TensorFlow, ...]] = {}

    def definition(self, callee: ast.expr) -> FunctionNode | ast.ClassDef | None:
        """The function, lambda or class of this module that an expression means, if just one.

        Seen through `tf.function(f)`, `functools.partial(f, ...)`, assignments and `self.method`.
        """
        found = self._named(callee)
        return self._led_to(callee) if found is None and callee in self._unnamed else found

    def _named(self, callee: ast.expr) -> FunctionNode | ast.ClassDef | None:
        """As `definition`, by names alone."""
        if callee not in self._definitions:
            found = self._definitions[callee] = self._definition(callee, _MAX_HOPS)
            if found is None and self._may_be_led_to(callee):
                self._unnamed.add(callee)
        return self._definitions[callee]

    def _may_be_led_to(self, callee: ast.expr) -> bool:
        """Whether what an expression means may stand somewhere else than where names lead."""
        if isinstance(callee, ast.Attribute):
            known = callee.attr in self._fields or self._may_be_member(callee.attr)
            return known and self._names.qualified(callee) is None
        if isinstance(callee, ast.Name):
            reaching = self._bindings.reaching(callee)
            if len(reaching) > 1:
                return all(each.how in (How.ASSIGNED, How.DEFINED) for each in reaching)
            return any(
                each.how in (How.PARAMETER, How.LOOPED) or bool(each.path) for each in reaching
            )
        if isinstance(callee, ast.Call):
            called = self.tree.parent(callee)
            is_called = isinstance(called, ast.Call) and called.func is callee
            return is_called and isinstance(self._definition(callee.func, _MAX_HOPS), FUNCTIONS)
        return isinstance(callee, ast.Subscript)

    @cached_property
    def _fields(self) -> frozenset[str]:
        """The names that classes declare in their bodies: `build: Callable`."""
        return frozenset(
            each.target.id
            for owner in self.tree.all(ast.ClassDef)
            for each in owner.body
            if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
        )

    def definitions(self, callee: ast.expr) -> tuple[FunctionNode | ast.ClassDef, ...]:
        """As `definition`, but all of those that it surely is one of: `builders[name]`."""
        found = self._named(callee)
        if found is not None:
            return (found,)
        return self._all_led_to(callee) if callee in self._unnamed else ()

    def _led_to(self, callee: ast.expr) -> FunctionNode | ast.ClassDef | None:
        found = self._all_led_to(callee)
        return found[0] if len(found) == 1 else None

    def _all_led_to(self, callee: ast.expr) -> tuple[FunctionNode | ast.ClassDef, ...]:
        tf = self._tf()
        ends = tf.sources.definitions(callee) if tf is not None else None
        if ends is None or not ends.complete:
            return ()
        nodes = dict.fromkeys(each.node for each in ends.found)
        return tuple(each for each in nodes if isinstance(each, (*FUNCTIONS, ast.ClassDef)))

    def wrapped(self, made: ast.Call) -> FunctionNode | ast.ClassDef | None:
        """What a call makes another function of, as names tell: `f` of `tf.function(f)`."""
        return self._definition(made, _MAX_HOPS)

    def function(self, callee: ast.expr) -> FunctionNode | None:
        """As `definition`, for functions and lambdas only."""
        found = self.definition(callee)
        return found if isinstance(found, FUNCTIONS) else None

    def calls_of(self, function: FunctionNode | ast.ClassDef) -> tuple[ast.Call, ...]:
        """The calls that run a function (or make an instance of a class).

        In this module and in that of the function; of a method, in those of the classes between its
        own and one of this module, too; of a function of this module, in all others of the project.
        """
        home = self.tree.elsewhere(function)
        others: Iterable[TensorFlow] = self._imports.importers
        if home is not None:
            owner = home.functions.class_of(function)
            others = [home] if owner is None else [home, *self._between(owner, home)]
        calls = (call for each in others for call in each.functions.calls_here(function))
        return (*self.calls_here(function), *calls)

    def _between(self, owner: ast.ClassDef, home: TensorFlow) -> Iterable[TensorFlow]:
        """The files of classes that inherit from one, and that classes of this module inherit."""
        if owner not in self._homes_between:
            lineages = (self.lineage(each) for each in self.heirs_here(owner))
            homes = [self.tree.elsewhere(each) for lineage in lineages for each in lineage]
            others = {id(each): each for each in homes if each is not None and each is not home}
            self._homes_between[owner] = tuple(others.values())
        return self._homes_between[owner]

    def calls_here(self, function: FunctionNode | ast.ClassDef) -> tuple[ast.Call, ...]:
        """The calls in this module that run a function (or make an instance of a class)."""
        here = self._calls.get(function, ())
        home = self.tree.elsewhere(function) if self._abroad else None
        led = self._calls_into(home).get(function) if home is not None else None
        return tuple(here) if not led else (*sorted((*here, *led), key=_place),)

    @cached_property
    def called_elsewhere(self) -> tuple[tuple[ast.FunctionDef, Sequence[ast.Call]], ...]:
        """The functions of other files that are called here, each with its calls.

        Those of files that have no word for what traces functions are left out.
        """
        found = {each: [*calls] for each, calls in self._calls.items()}
        for call, lead in self._abroad.items():
            if self._imports.may_trace(lead):
                self._note(found, call, self.definition(call.func))
        return tuple(
            (each, sorted(calls, key=_place))
            for each, calls in found.items()
            if isinstance(each, ast.FunctionDef) and self.tree.elsewhere(each) is not None
        )

    def _calls_into(self, home: TensorFlow) -> Mapping[ast.AST, list[ast.Call]]:
        """The calls by the names of other files that may run what stands in one, by that."""
        if home.tree.module not in self._led_into:
            found = self._led_into[home.tree.module] = {}
            for call, lead in self._abroad.items():
                if self._imports.may_reach(lead, home):
                    self._note(found, call, self.definition(call.func))
        return self._led_into[home.tree.module]

    def class_of(self, function: ast.AST) -> ast.ClassDef | None:
        """The class a method is defined in."""
        above = self.tree.parent(function)
        return above if isinstance(above, ast.ClassDef) else None

    def enclosing_class(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around a node."""
        return next(
            (each for each in self.tree.ancestors(node) if isinstance(each, ast.ClassDef)), None
        )

    def method(self, owner: ast.ClassDef, name: str) -> FunctionNode | None:
        """A class's method, its own or inherited from another class of the module."""
        if owner not in self._methods:
            found: dict[str, FunctionNode] = {}
            for each in self.lineage(owner):
                for statement in each.body:
                    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                        found.setdefault(statement.name, statement)
            self._methods[owner] = found
        return self._methods[owner].get(name)

    def overrides(self, function: FunctionNode) -> tuple[FunctionNode, ...]:
        """What runs in place of a method in the classes of the module that inherit from its own."""
        owner = self.class_of(function)
        if owner is None or isinstance(function, ast.Lambda):
            return ()
        found = (self.method(each, function.name) for each in self.heirs(owner))
        return tuple({each: None for each in found if each is not None and each is not function})

    def calls_through_bases(self, function: FunctionNode) -> Iterator[ast.Call]:
        """The calls by which methods that a class inherits run one of its own: `self.step(x)`."""
        owner = self.class_of(function)
        if owner is None or isinstance(function, ast.Lambda):
            return
        bases = (self.method(each, function.name) for each in self.lineage(owner)[1:])
        for replaced in dict.fromkeys(each for each in bases if each not in (None, function)):
            assert replaced is not None
            for call in self.calls_of(replaced):
                receiver = call.func.value if isinstance(call.func, ast.Attribute) else None
                runs_in = self.tree.function(call)
                taken = getattr(getattr(runs_in, "args", None), "args", ())
                if isinstance(receiver, ast.Name) and taken and taken[0].arg == receiver.id:
                    yield call

    def lineage(self, owner: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
        """The class and those of the module that it inherits from, nearest first."""
        if owner not in self._lineages:
            self._lineages[owner] = (owner,)  # should it be asked for on the way
            found = [owner]
            for each in found:
                bases = (self._definition(base, _MAX_HOPS) for base in each.bases)
                found += [
                    base for base in bases if isinstance(base, ast.ClassDef) and base not in found
                ]
            self._lineages[owner] = tuple(found)
        return self._lineages[owner]

    def heirs(self, owner: ast.ClassDef) -> tuple[ast.ClassDef, ...]:
        """The classes of the module that inherit from one, and those of its own module."""
        home = self.tree.elsewhere(owner)
        others = [home] if home is not None else self._imports.importers
        heirs = (each for other in others for each in other.functions.heirs_here(owner))
        return (*self.heirs_here(owner), *heirs)

    def heirs_here(self, owner: ast.ClassDef) -> Sequence[ast.ClassDef]:
        """The classes of the module that inherit from one."""
        return self._heirs.get(owner, ())

    @cached_property
    def _heirs(self) -> Mapping[ast.ClassDef, Sequence[ast.ClassDef]]:
        found: dict[ast.ClassDef, list[ast.ClassDef]] = {}
        for each in self.tree.all(ast.ClassDef):
            for base in self.lineage(each)[1:]:
                found.setdefault(base, []).append(each)
        return found

    def attributes(self, owner: ast.ClassDef, name: str) -> tuple[ast.expr, ...]:
        """Everything the class's methods assign to `self.name`, whole assignments only."""
        return tuple(value for value, path in self.unpacked_attributes(owner, name) if not path)

    def unpacked_attributes(
        self, owner: ast.ClassDef, name: str
    ) -> tuple[tuple[ast.expr, tuple[int, ...]], ...]:
        """As `attributes`, each with its place in what is unpacked: `self.x, self.y = load()`."""
        found: list[tuple[ast.expr, tuple[int, ...]]] = []
        for each in self.lineage(owner):
            home = self.tree.elsewhere(each)
            if home is not None:
                found += home.functions.assigned_here(each, name)
            found += self.assigned_here(each, name)
        return tuple(found)

    def assigned_here(
        self, owner: ast.ClassDef, name: str
    ) -> Iterable[tuple[ast.expr, tuple[int, ...]]]:
        """What methods of this module assign to `self.name` of a class, bases left out."""
        return self._assigned.get((owner, name), ()) if name in self.members else ()

    def class_constant(self, attribute: ast.Attribute) -> ast.expr | None:
        """The number that a class gives an attribute, `STEPS = 400`, and that nothing changes."""
        home = self.tree.elsewhere(attribute)
        if home is not None:
            return home.functions.class_constant(attribute)
        several = self._class_values.get(attribute.attr, ())
        if len(several) != 1 or attribute.attr in self.members:
            return None
        owner, given = several[0]
        number = isinstance(given, (ast.BinOp, ast.Constant, ast.UnaryOp))
        held = self.instance_of(attribute.value) or self.definition(attribute.value)
        if not number or not isinstance(held, ast.ClassDef) or owner not in self.lineage(held):
            return None
        return None if self.is_enumeration(owner) else given

    def is_enumeration(self, owner: ast.ClassDef) -> bool:
        """Whether the values of a class's names are members, not what is written."""
        bases = (base for each in self.lineage(owner) for base in each.bases)
        return any((self._names.qualified(base) or "").startswith("enum.") for base in bases)

    @cached_property
    def _class_values(self) -> Mapping[str, list[tuple[ast.ClassDef, ast.expr | None]]]:
        """What classes give names in their bodies; None for fields, which instances may set."""
        found: dict[str, list[tuple[ast.ClassDef, ast.expr | None]]] = {}
        for owner in self.tree.all(ast.ClassDef):
            pending: list[ast.AST] = [*owner.body]
            for node in pending:
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    given = self.tree.parent(node)
                    alone = isinstance(given, ast.Assign) and given in owner.body
                    value = given.value if alone and isinstance(given, ast.Assign) else None
                    found.setdefault(node.id, []).append((owner, value))
                elif not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                    pending += children(node)
        return found

    def is_keras(self, owner: ast.ClassDef) -> bool:
        """Whether a class is a Keras layer or model, directly or through classes of the module."""
        return any(
            self._names.is_any(base, KERAS_BASES) or self._is_keras_name(base)
            for each in self.lineage(owner)
            for base in each.bases
        )

    def is_model(self, owner: ast.ClassDef) -> bool:
        """Whether a class is a Keras model, which has `fit` and `predict`, not a mere layer."""
        return any(
            self._names.is_any(base, KERAS_MODELS)
            for each in self.lineage(owner)
            for base in each.bases
        )

    def argument(self, call: ast.Call, function: FunctionNode, name: str) -> ast.expr | None:
        """What a call passes for a parameter; None where it cannot be told.

        A parameter that is left out has its default.
        """
        bound, named = self._bound_by_partial(call.func, _MAX_HOPS)
        given = [*bound, *call.args]
        for keyword in (*call.keywords, *named):
            if keyword.arg == name:
                return keyword.value
            if keyword.arg is None:
                return None
        parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        if name in parameters:
            place = parameters.index(name) - self._bound_first(call, function)
            if any(isinstance(each, ast.Starred) for each in given[: place + 1]):
                return None
            if 0 <= place < len(given):
                return given[place]
        return default(function, name)

    def returns(self, function: FunctionNode) -> tuple[ast.expr, ...]:
        """The expressions a function returns or yields nothing else than; empty for generators."""
        return self._given_back(function)[0]

    def yields(self, function: FunctionNode) -> tuple[ast.expr, ...]:
        """The expressions a generator yields, one at a time."""
        return self._given_back(function)[1]

    def _given_back(self, function: FunctionNode) -> tuple[tuple[ast.expr, ...], ...]:
        home = self.tree.elsewhere(function)
        if home is not None:
            return home.functions._given_back(function)
        yielded = self._yielded.get(function)
        kept = () if yielded is None else tuple(each for each in yielded if each is not None)
        if isinstance(function, ast.Lambda):
            return (function.body,), kept
        return () if yielded is not None else tuple(self._returned.get(function, ())), kept

    @cached_property
    def _returned(self) -> Mapping[FunctionNode, Sequence[ast.expr]]:
        found: dict[FunctionNode, list[ast.expr]] = {}
        for each in self.tree.all(ast.Return):
            function = self.tree.function(each)
            if function is not None and each.value is not None:
                found.setdefault(function, []).append(each.value)
        return found

    @cached_property
    def _yielded(self) -> Mapping[FunctionNode, Sequence[ast.expr | None]]:
        """What generators yield one at a time; None stands for all that they yield otherwise."""
        found: dict[FunctionNode, list[ast.expr | None]] = {}
        for each in self.tree.all(ast.Yield, ast.YieldFrom):
            function = self.tree.function(each)
            if function is not None:
                one = each.value if isinstance(each, ast.Yield) else None
                found.setdefault(function, []).append(one)
        return found

    def body(self, function: FunctionNode) -> Iterator[ast.AST]:
        """The nodes a function itself runs, without those of functions defined inside it."""
        body: list[ast.AST] = (
            [function.body] if isinstance(function, ast.Lambda) else [*function.body]
        )
        pending = body[::-1]
        while pending:
            node = pending.pop()
            yield node
            if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
                pending += children(node)[::-1]

    @cached_property
    def tracers(self) -> frozenset[str]:
        """The last words of all that may have TensorFlow trace a function."""
        if not self._names.mentions(TF_FUNCTION):
            return frozenset()
        return self._names.spelled(TF_FUNCTION) | self._results | {""}

    def makes_tf_function(self, expression: ast.expr) -> bool:
        """Whether applying this expression to a function has TensorFlow trace it.

        True of `tf.function`, `tf.function(jit_compile=True)`, `partial(tf.function, ...)`, and of
        names for these.
        """
        home = self.tree.elsewhere(expression)
        if home is not None:
            return home.functions.makes_tf_function(expression)
        if not self._names.mentions(TF_FUNCTION):
            return False
        if self._names.is_any(expression, TF_FUNCTION):
            return True
        if isinstance(expression, ast.Name) and expression.id in self._results:
            expression = self._bindings.assigned(expression) or expression
        if isinstance(expression, ast.Call):
            if self._names.is_any(expression.func, PARTIAL):
                return bool(expression.args) and self.makes_tf_function(expression.args[0])
            return not expression.args and self.makes_tf_function(expression.func)
        return False

    def receiver(self, parameter: ast.AST) -> ast.ClassDef | None:
        """The class whose instances a parameter takes because it is the `self` of a method."""
        if parameter not in self._receivers:
            self._receivers[parameter] = self._receiver(parameter)
        return self._receivers[parameter]

    def _receiver(self, parameter: ast.AST) -> ast.ClassDef | None:
        function = next(
            each for each in self.tree.ancestors(parameter) if isinstance(each, FUNCTIONS)
        )
        owner = self.class_of(function)
        arguments = [*function.args.posonlyargs, *function.args.args]
        if owner is None or not arguments or arguments[0] is not parameter:
            return None
        return None if _is_decorated(function, {"staticmethod", "classmethod"}) else owner

    def receiver_named(self, expression: ast.expr) -> ast.ClassDef | None:
        """The class of `self`, where an expression is that."""
        binding = self._bindings.only(expression) if isinstance(expression, ast.Name) else None
        is_parameter = binding is not None and binding.how is How.PARAMETER
        return self.receiver(binding.node) if binding and is_parameter else None

    def is_property(self, method: FunctionNode) -> bool:
        """Whether a method is called by reading it like an attribute."""
        return _is_decorated(method, {"property", "cached_property"})

    def parameters(self, function: FunctionNode) -> Iterator[Binding]:
        """The bindings of a function's parameters."""
        taken = function.args
        for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs):
            found = self._bindings.of(function, each.arg)
            yield from (binding for binding in found if binding.node is each)

    def _definition(self, callee: ast.expr, hops: int) -> FunctionNode | ast.ClassDef | None:
        if hops == 0:
            return None
        if isinstance(callee, ast.Lambda):
            return callee
        home = self.tree.elsewhere(callee)
        if home is not None:
            return home.functions._definition(callee, hops)
        if isinstance(callee, ast.Name):
            binding = self._bindings.only(callee) if callee.id in self._given else None
            if binding is None or binding.how is How.IMPORTED:
                return self._from_elsewhere(callee, hops - 1) if self._imports.any else None
            if binding.path:
                return None
            if binding.how is How.DEFINED:
                node = binding.node
                return node if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else None
            if binding.how is How.ASSIGNED and binding.value is not None:
                return self._definition(binding.value, hops - 1)
            return None
        if isinstance(callee, ast.Call):
            wraps = self._names.is_any(callee.func, STAYS_A_FUNCTION)
            wraps = wraps or self.makes_tf_function(callee.func)
            if not wraps or not callee.args:
                return None
            given = callee.args[0]
            return self._definition(given, hops - 1) or self._returned_by(given, hops - 1)
        if isinstance(callee, ast.Attribute):
            found = self._from_elsewhere(callee, hops - 1) if self._imports.any else None
            if found is not None:
                return found
            if self._may_be_member(callee.attr):
                return self._member(callee, hops - 1)
        return None

    def _returned_by(self, made: ast.expr, hops: int) -> FunctionNode | None:
        """The function that another one makes and gives back: `tf.function(make())`."""
        maker = self._definition(made.func, hops) if isinstance(made, ast.Call) else None
        if not isinstance(maker, ast.FunctionDef) or maker.decorator_list:
            return None
        returned = self.returns(maker)
        found = self._definition(returned[0], hops - 1) if len(returned) == 1 else None
        return found if isinstance(found, FUNCTIONS) else None

    def _from_elsewhere(self, callee: ast.expr, hops: int) -> FunctionNode | ast.ClassDef | None:
        """What another file defines under the dotted name that begins with an import."""
        place = self._imports.of(callee)
        if place is None or not place.names or not hops:
            return None
        home = self.tree.elsewhere(place.module)
        return None if home is None else home.functions.handed_out(place.names, hops)

    def handed_out(
        self, names: tuple[str, ...], hops: int = _MAX_HOPS
    ) -> FunctionNode | ast.ClassDef | None:
        """What other files get under a dotted name from this one."""
        bindings = self._imports.inside(names[0])
        if len(bindings) != 1 or bindings[0].path or not hops:
            return None
        node, value = bindings[0].node, bindings[0].value
        if isinstance(node, ast.alias):
            place = self._imports.of_alias(node)
            home = self.tree.elsewhere(place.module) if place is not None else None
            further = (*place.names, *names[1:]) if place is not None else ()
            return home.functions.handed_out(further, hops - 1) if home and further else None
        found = node if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else None
        if found is None and bindings[0].how is How.ASSIGNED and value is not None:
            found = self._definition(value, hops - 1)
        for name in names[1:]:
            found = self.method(found, name) if isinstance(found, ast.ClassDef) else None
        return found

    def _member(self, callee: ast.Attribute, hops: int) -> FunctionNode | ast.ClassDef | None:
        owner = self._instance_of(callee.value, hops)
        if owner is None:
            found = self._definition(callee.value, hops) if hops else None
            owner = found if isinstance(found, ast.ClassDef) else self._base(callee)
        if owner is None:
            return None
        method = self.method(owner, callee.attr)
        if method is not None:
            instead = self.overrides(method) if _is_abstract(method) else ()
            return instead[0] if len(instead) == 1 else method
        values = self.attributes(owner, callee.attr)
        return self._definition(values[0], hops) if len(values) == 1 and hops else None

    def _base(self, member: ast.Attribute) -> ast.ClassDef | None:
        """The class of the module that `super()` stands for."""
        called = member.value.func if isinstance(member.value, ast.Call) else None
        if not isinstance(called, ast.Name) or called.id != "super":
            return None
        owner = self.enclosing_class(member)
        return next(iter(self.lineage(owner)[1:]), None) if owner is not None else None

    def instance_of(self, expression: ast.expr) -> ast.ClassDef | None:
        """The class of this module that an expression is an instance of: `self`, `Class()`."""
        if expression not in self._instances:
            found = self._instance_of(expression, _MAX_HOPS)
            if found is None and self._has_classes:
                return self._led_to_instance(expression)
            self._instances[expression] = found
        return self._instances[expression]

    def _led_to_instance(self, expression: ast.expr) -> ast.ClassDef | None:
        if not isinstance(expression, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
            return None
        tf = self._tf() if self._names.qualified(expression) is None else None
        found = tf.sources.classes(expression) if tf is not None else None
        return found.found[0] if found and found.sure and len(found.found) == 1 else None

    @cached_property
    def _has_classes(self) -> bool:
        return self._imports.any or any(True for _ in self.tree.all(ast.ClassDef))

    def _instance_of(self, expression: ast.expr, hops: int) -> ast.ClassDef | None:
        if hops == 0:
            return None
        home = self.tree.elsewhere(expression)
        if home is not None:
            return home.functions._instance_of(expression, hops)
        if isinstance(expression, ast.Call):
            found = self._definition(expression.func, hops - 1)
            return found if isinstance(found, ast.ClassDef) else None
        if isinstance(expression, ast.Name):
            binding = self._bindings.only(expression)
            if binding is None or binding.path:
                return None
            if binding.how is How.PARAMETER:
                return self.receiver(binding.node)
            if binding.how is How.ASSIGNED and binding.value is not None:
                return self._instance_of(binding.value, hops - 1)
        if isinstance(expression, ast.Attribute) and self._may_be_member(expression.attr):
            owner = self._instance_of(expression.value, hops - 1)
            values = self.attributes(owner, expression.attr) if owner else ()
            return self._instance_of(values[0], hops - 1) if len(values) == 1 else None
        return None

    def _bound_first(self, call: ast.Call, function: FunctionNode) -> int:
        """How many of the first parameters the call does not pass itself: 1 for `self`."""
        owner = self.class_of(function)
        if owner is None or _is_decorated(function, {"staticmethod"}):
            return 0
        if isinstance(call.func, ast.Attribute):
            through_class = isinstance(self.definition(call.func.value), ast.ClassDef)
            return 0 if through_class and not _is_decorated(function, {"classmethod"}) else 1
        return 1

    def _bound_by_partial(
        self, callee: ast.expr, hops: int
    ) -> tuple[list[ast.expr], list[ast.keyword]]:
        """The arguments that `functools.partial` gave what is called before the call does."""
        if isinstance(callee, ast.Name):
            value = self._bindings.assigned(callee)
            return (
                self._bound_by_partial(value, hops - 1) if value is not None and hops else ([], [])
            )
        if not isinstance(callee, ast.Call) or not callee.args:
            return [], []
        inner, named = self._bound_by_partial(callee.args[0], hops)
        if not self._names.is_any(callee.func, PARTIAL):
            return inner, named
        return [*inner, *callee.args[1:]], [*callee.keywords, *named]

    @cached_property
    def members(self) -> frozenset[str]:
        """The names of methods and of attributes that the module gives values to."""
        methods = {
            each.name
            for each in self.tree.all(ast.FunctionDef, ast.AsyncFunctionDef)
            if isinstance(self.tree.parent(each), ast.ClassDef)
        }
        written = (each for each in self.tree.all(ast.Attribute) if isinstance(each.ctx, ast.Store))
        return frozenset(methods.union(each.attr for each in written))

    def _may_be_member(self, name: str) -> bool:
        """Whether a class of the project may have a member of a name."""
        return name in self.members or (self._imports.any and self._imports.may_give(name))

    def may_be_held(self, attribute: ast.Attribute) -> bool:
        """Whether anything may have been given an attribute of this name, in whatever way."""
        home = self.tree.elsewhere(attribute)
        if home is not None:
            return home.functions.may_be_held(attribute)
        name = attribute.attr
        return name in self._given_names or self._imports.may_give(name)

    @cached_property
    def _given_names(self) -> frozenset[str]:
        """All names that this file gives anything: variables, members, keywords, and in strings."""
        found = {*self.members, *self._fields, *(each.name for each in self._bindings.all)}
        found.update(each.arg for each in self.tree.all(ast.keyword) if each.arg is not None)
        for each in self.tree.all(ast.Constant):
            if isinstance(each.value, str):  # `setattr(x, "name", y)`, `namedtuple("T", "a, b")`
                found.update(each.value.replace(",", " ").split())
        return frozenset(found)

    def _is_keras_name(self, base: ast.expr) -> bool:
        name = self._names.qualified(base) or ""
        return name.startswith(("keras.layers.", "keras.applications."))

    @property
    def _calls(self) -> Mapping[ast.AST, list[ast.Call]]:
        """The calls by what they run.

        To follow a call through values, callers have to be known: while that goes on, those are
        that names lead to. What was answered with them alone is asked again afterwards.
        """
        if self._called is None:
            found = self._called = {}
            some = {"", *self._given, *self.members, *self._fields}
            calls = [*self.tree.all(ast.Call)] if self._imports.any else self.tree.calls(some)
            for call in calls:
                lead = self._imports.lead_of(call.func) if self._imports.any else None
                if lead is not None and len(lead.names) == 1:
                    self._abroad[call] = lead
            named = [call for call in calls if call not in self._abroad]
            for call in named:
                self._note(found, call, self._named(call.func))
            unnamed = [call for call in named if call.func in self._unnamed]
            led = [self._note(found, call, self._led_to(call.func)) for call in unnamed]
            tf = self._tf()
            if tf is not None and True in led:
                tf.solver.forget()
                for each in found.values():
                    each.sort(key=_place)
        return self._called

    def _note(
        self,
        found: dict[ast.AST, list[ast.Call]],
        call: ast.Call,
        called: FunctionNode | ast.ClassDef | None,
    ) -> bool:
        """Note a call under all that it runs; whether that is known."""
        if called is not None:
            found.setdefault(called, []).append(call)
        if isinstance(called, ast.ClassDef):
            made_by = self.method(called, "__init__")
            if made_by is not None:
                found.setdefault(made_by, []).append(call)
        return called is not None

    @cached_property
    def _given(self) -> frozenset[str]:
        """The names that definitions and assignments give their values."""
        gives = (How.ASSIGNED, How.DEFINED)
        return frozenset(each.name for each in self._bindings.all if each.how in gives)

    @cached_property
    def _results(self) -> frozenset[str]:
        """The names that are given what some call returns."""
        calls = (each for each in self._bindings.all if isinstance(each.value, ast.Call))
        return frozenset(each.name for each in calls)

    @cached_property
    def _assigned(
        self,
    ) -> Mapping[tuple[ast.ClassDef, str], list[tuple[ast.expr, tuple[int, ...]]]]:
        everything: dict[tuple[ast.ClassDef, str], list[tuple[ast.expr, tuple[int, ...]]]] = {}
        for assignment in self.tree.all(ast.Assign, ast.AnnAssign):
            if assignment.value is None:
                continue
            given = (
                assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
            )
            unpacked = [each for target in given for each in targets(target, ast.Attribute)]
            for attribute, path in unpacked:
                owner = self.receiver_named(attribute.value)
                if owner is not None:
                    value = element(assignment.value, path)
                    everything.setdefault((owner, attribute.attr), []).append(value)
        return everything


def _place(call: ast.Call) -> tuple[int, int]:
    return call.lineno, call.col_offset


def _is_abstract(method: FunctionNode) -> bool:
    """Whether a method does nothing, and leaves that to those of heirs."""
    if isinstance(method, ast.Lambda):
        return False
    return all(
        isinstance(each, (ast.Pass, ast.Raise))
        or (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
        for each in method.body
    )


def default(function: FunctionNode, name: str) -> ast.expr | None:
    """The default of a parameter, if it has one."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    pairs: Iterable[tuple[ast.arg, ast.expr | None]] = (
        *zip(with_default, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    )
    return next((value for parameter, value in pairs if parameter.arg == name), None)


def _is_decorated(function: FunctionNode, names: set[str]) -> bool:
    decorators = getattr(function, "decorator_list", ())
    called = (getattr(each, "attr", getattr(each, "id", "")) for each in decorators)
    return not names.isdisjoint(called)
