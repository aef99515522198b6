"""Functions run on what is known of an element: forwards, a statement at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import reduce

from tfmemlint.facts.flow.sources import Sources
from tfmemlint.facts.flow.values import Values
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.operations import Effects, Given, Operations
from tfmemlint.facts.pipelines.expressions import (
    evaluated,
    from_pairs,
    holds,
    is_of_element,
    is_print,
    spread,
    written,
)
from tfmemlint.facts.pipelines.features import Descriptions, having
from tfmemlint.facts.pipelines.held import (
    OUTSIDE,
    Held,
    Several,
    Tensor,
    each_of,
    either,
    lost,
    part_of,
    row,
    sizes,
    tensors,
    told,
)
from tfmemlint.facts.syntax.callers import Callers
from tfmemlint.facts.syntax.functions import Functions
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.nodes import called, is_none
from tfmemlint.facts.syntax.tree import FUNCTIONS, FunctionNode, parameters

_MAX_DEPTH = 8
"""Calls of functions of the module within each other."""
_MAX_CALLS = 200
"""Calls of functions of the module in all."""
_MAX_NESTING = 100
"""Levels of one expression."""


class DryRun:
    """One run, forwards through the code; what it does besides is noted on the way."""

    def __init__(
        self,
        names: Names,
        functions: Functions,
        callers: Callers,
        values: Values,
        sources: Sources,
    ) -> None:
        self.names = names
        self._functions = functions
        self._callers = callers
        self._values = values
        self._sources = sources
        self._descriptions = Descriptions(names, functions, sources)
        self._entered: list[FunctionNode] = []
        self._scopes: list[dict[str, Held]] = []
        self._returned: list[list[Held]] = []
        self._calls = 0
        self._nesting = 0
        self.effects = Effects()
        self.operations = Operations(names, functions, values, self.effects)

    def given(self, function: ast.expr, arguments: list[Held]) -> Held:
        """What calling `function` with these gives."""
        names = [ast.Name(f"{place} of the element") for place in range(len(arguments))]
        self._scopes.append({name.id: held for name, held in zip(names, arguments, strict=True)})
        made = self.call(ast.Call(function, [*names], []))
        self._scopes.pop()
        return made

    # Statements.

    def _block(self, statements: Iterable[ast.stmt]) -> bool:
        """Whether what comes after these surely does not run."""
        return any(map(self._statement, statements))

    def _statement(self, node: ast.stmt) -> bool:
        if isinstance(node, ast.Return):
            self._returned[-1].append(OUTSIDE if node.value is None else self.held(node.value))
            return True
        if isinstance(node, ast.If):
            self.held(node.test)
            decided = holds(self, node.test)
            if decided is not None:
                return self._block(node.body if decided else node.orelse)
            self._branches([node.body, node.orelse])
        else:
            self._simple(node)
        return isinstance(node, ast.Raise)

    def _simple(self, node: ast.stmt) -> None:
        """Run a statement that does not decide what comes next."""
        if isinstance(node, ast.Assign):
            held = self.held(node.value)
            for target in node.targets:
                self.bind(target, held)
        elif isinstance(node, ast.AugAssign):
            self.bind(node.target, self.held(ast.BinOp(node.target, node.op, node.value)))
        elif isinstance(node, (ast.Expr, ast.Assert)):
            self.held(node.value if isinstance(node, ast.Expr) else node.test)
        elif isinstance(node, (ast.For, ast.While)):
            if isinstance(node, ast.For):
                self.bind(node.target, each_of(self.held(node.iter)))
            else:
                self.held(node.test)
            self._branches([node.body, []])
        elif isinstance(node, ast.With):
            for item in node.items:
                self.held(item.context_expr)
            self._block(node.body)
        elif not isinstance(node, (ast.Pass, ast.Raise, ast.FunctionDef, ast.Import)):
            self.effects.known = False

    def _branches(self, branches: list[list[ast.stmt]]) -> None:
        before, after = self._scopes[-1], list[dict[str, Held]]()
        for branch in branches:
            self._scopes[-1] = dict(before)
            self._block(branch)
            if not (branch and isinstance(branch[-1], (ast.Return, ast.Raise))):
                after.append(self._scopes[-1])
        self._scopes[-1] = {  # what is read later was given a value on the way
            name: reduce(either, [scope[name] for scope in after if name in scope])
            for name in dict.fromkeys(name for scope in after for name in scope)
        }

    def bind(self, target: ast.expr, held: Held) -> None:
        scope = self._scopes[-1]
        if isinstance(target, ast.Name):
            scope[target.id] = held
        elif isinstance(target, (ast.Tuple, ast.List)):
            for place, each in enumerate(target.elts):
                self.bind(each, part_of(held, place))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            key, was = self.key(target.slice), scope.get(target.value.id)
            if was is None or (key is None and not isinstance(was, Several)):
                self.effects.stateful = True
                return
            self.effects.stateful = self.effects.stateful or key is None
            whole = was if isinstance(was, Several) else Several(((None, was),))
            scope[target.value.id] = having(whole, key, held)
        else:
            self.effects.stateful = True

    # Expressions.

    @property
    def scope(self) -> dict[str, Held]:
        """The names that the function has which is run."""
        return self._scopes[-1]

    @scope.setter
    def scope(self, names: dict[str, Held]) -> None:
        self._scopes[-1] = names

    def held(self, node: ast.expr) -> Held:
        """What an expression holds, told by what is known of the element."""
        if self._nesting >= _MAX_NESTING:
            return self.effects.lost()
        self._nesting += 1
        held = evaluated(self, node)
        self._nesting -= 1
        return held

    def key(self, node: ast.expr) -> str | int | None:
        """The key that an expression surely is, be it a constant by name."""
        named = isinstance(node, (ast.Attribute, ast.Name)) and not is_of_element(self, node)
        told = self._sources.constant(node) if named else node
        key = told.value if isinstance(told, ast.Constant) else None
        return key if isinstance(key, (str, int)) else None

    def _described(self, node: ast.expr) -> Held | None:
        """What stands outside and says of records what is in them."""
        literal = self._descriptions.at(node)
        if literal is None:
            return None
        noted = dict(vars(self.effects))
        self._scopes.append({})
        found = self.held(literal)
        for key, put in self._descriptions.put_in(node, literal):
            named = None if key is None else self.key(key)
            found = having(found, named, self.held(put)) if isinstance(found, Several) else found
        self._scopes.pop()
        vars(self.effects).update(noted)
        return found if all(each.times > 0 for each in tensors(found)) else None

    def outside(self, node: ast.expr) -> Held:
        value = written(self._values, node)
        named = value is OUTSIDE and self.names.qualified(node) is None
        described = self._described(node) if named else None
        if described is not None:
            return described
        if value is OUTSIDE and self._values.of(node).kind is Kind.VARIABLE:
            self.effects.stateful = True  # what it holds may be another number by then
        return value

    def may_be_none(self, node: ast.expr) -> bool | None:
        """Whether something from outside may be `None`, or surely is something else."""
        default = self._callers.left_out(node)
        found = (
            [each.node for each in self._sources.of(node).found] if default is None else [default]
        )
        return any(map(is_none, found)) or (False if self._callers.is_always_given(node) else None)

    # Calls.

    def call(self, node: ast.Call) -> Held:
        node = spread(self, node)
        name = self.names.qualified(node.func)
        if name is not None:
            return self._operation(name, node)
        meant = self._functions.definitions(node.func)
        functions = [each for each in meant if isinstance(each, FUNCTIONS)]
        if functions:
            return reduce(either, [self._function(each, node) for each in functions])
        if isinstance(node.func, ast.Call):
            maker = self._functions.function(node.func.func)
            inner = () if maker is None else self._functions.made_by(maker)
            if maker is not None and inner:
                return self._made(maker, inner, node.func, node)
        layer = self._values.of(node.func)
        given = self._given(node)
        if layer.kind in (Kind.LAYER, Kind.MODEL) and isinstance(layer.origin, ast.Call):
            return self.operations.layer(layer.origin, given.first)
        if isinstance(node.func, ast.Attribute):
            if is_of_element(self, node.func.value):
                return self._method(node, node.func)
        elif called(node) in _BUILTINS:
            if called(node) == "dict":
                return from_pairs(given.first)
            return given.first if called(node) in ("list", "tuple") else OUTSIDE
        self.effects.stateful = self.effects.stateful or is_print(node.func)
        self.effects.known = self.effects.known and is_print(node.func)
        return OUTSIDE if is_print(node.func) else lost(given.all)

    def _given(self, node: ast.Call) -> Given:
        places = tuple(self.held(each) for each in node.args)
        return Given(node, places, {each.arg: self.held(each.value) for each in node.keywords})

    def _operation(self, name: str, node: ast.Call) -> Held:
        if name in ("tensorflow.cond", "tensorflow.case"):
            given = (*node.args[1:], *(each.value for each in node.keywords))
            functions = [self._functions.function(each) for each in given]
            called = [self._function(each, ast.Call(node, [], [])) for each in functions if each]
            return reduce(either, called) if called else self.effects.lost()
        return self.operations.made(name, self._given(node))

    def _function(self, function: FunctionNode, call: ast.Call) -> Held:
        self._calls += 1
        deep = len(self._entered) >= _MAX_DEPTH or self._calls > _MAX_CALLS
        if deep or function in self._entered:
            return self.effects.lost()
        return self._running(function, self._scope(function, call))

    def _made(
        self,
        maker: FunctionNode,
        inner: tuple[FunctionNode, ...],
        making: ast.Call,
        call: ast.Call,
    ) -> Held:
        """`resize_to(224)(image)`: what `resize_to` returns is run."""
        names = [ast.Name(f"{place} of what is given") for place in range(len(call.args))]
        given = {name.id: self.held(each) for name, each in zip(names, call.args, strict=True)}
        if len(self._entered) >= _MAX_DEPTH or maker in self._entered:
            return self.effects.lost()
        scope = self._scope(maker, making) | given
        self._entered.append(maker)
        self._scopes.append(scope)
        self._returned.append([])
        if isinstance(maker, ast.FunctionDef):
            self._block([each for each in maker.body if not isinstance(each, ast.Return)])
        self._returned.pop()
        as_call = ast.Call(making.func, [*names], [])
        made = reduce(either, [self._function(each, as_call) for each in inner])
        self._scopes.pop()
        self._entered.pop()
        return made

    def _scope(self, function: FunctionNode, call: ast.Call) -> dict[str, Held]:
        """What a function sees when it is called so."""
        scope, arguments = self._closure(function), function.args
        is_method = self._functions.members.binds_first(function)
        for parameter in parameters(function)[is_method:]:
            value = self._callers.argument(call, function, parameter.arg)
            scope[parameter.arg] = OUTSIDE if value is None else self.held(value)
        if arguments.vararg is not None:
            rest = call.args[max(0, len(arguments.args) - is_method) :]
            scope[arguments.vararg.arg] = row(self.held(each) for each in rest)
        return scope

    def _running(self, function: FunctionNode, scope: dict[str, Held]) -> Held:
        self._entered.append(function)
        self._scopes.append(scope)
        if isinstance(function, ast.Lambda):
            made = self.held(function.body)
        else:
            self._returned.append([])
            self._block(function.body)
            returned = self._returned.pop()
            made = reduce(either, returned) if returned else OUTSIDE
        self._scopes.pop()
        self._entered.pop()
        return made

    def _closure(self, function: FunctionNode) -> dict[str, Held]:
        """What a function defined in the one that runs sees of it."""
        around = self._functions.tree.function(function)
        running = self._entered[-1] if self._entered else None
        return dict(self._scopes[-1]) if around is not None and around is running else {}

    def _method(self, node: ast.Call, callee: ast.Attribute) -> Held:
        held, name = self.held(callee.value), callee.attr
        if name == "set_shape" and node.args and isinstance(held, Tensor):
            self.bind(callee.value, told(held, sizes(self.held(node.args[0]))))
            self.effects.exact = False
            return OUTSIDE
        key = self.key(node.args[0]) if node.args else None
        if name in ("get", "pop") and key is not None:
            if name == "pop" and isinstance(held, Several):
                self.bind(callee.value, Several(tuple(p for p in held.parts if p[0] != key)))
            return part_of(held, key)
        if name == "update" and isinstance(held, Several) and len(node.args) == 1:
            more = self.held(node.args[0])
            for each, part in more.parts if isinstance(more, Several) else ((None, more),):
                held = having(held, each, part)
            self.bind(callee.value, held)
            return OUTSIDE
        self.effects.exact = False
        self.effects.known = self.effects.known and name in _METHODS
        return held if name in ("copy", "items", "values") else OUTSIDE


_METHODS = frozenset({"as_list", "copy", "get_shape", "items", "keys", "values"})
_BUILTINS = frozenset(
    {"bool", "dict", "float", "int", "isinstance", "len", "list", "max", "min", "range", "str"}
    | {"abs", "enumerate", "sorted", "sum", "tuple", "zip"}
)
