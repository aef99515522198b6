"""Functions run on what is known of an element: forwards, a statement at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from functools import reduce

from tfmemlint.facts.flow.sizes import ARITHMETIC, calculated, constant
from tfmemlint.facts.flow.sources import Sources
from tfmemlint.facts.flow.values import Values
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.operations import Effects, Given, Operations
from tfmemlint.facts.pipelines.features import Descriptions, having
from tfmemlint.facts.pipelines.held import (
    NUMBER,
    OUTSIDE,
    Held,
    Several,
    Tensor,
    each_of,
    either,
    number,
    part_of,
    row,
    scaled,
    sizes,
    tensors,
    together,
    told,
    vague,
)
from tfmemlint.facts.syntax.callers import Callers
from tfmemlint.facts.syntax.functions import Functions
from tfmemlint.facts.syntax.names import Names
from tfmemlint.facts.syntax.tree import FunctionNode

_MAX_DEPTH = 8
"""Calls of functions of the module within each other."""
_MAX_CALLS = 200
"""Calls of functions of the module in all."""
_MAX_NESTING = 100
"""Levels of one expression."""


class Run:
    """One run, forwards through the code; what it does besides is noted on the way."""

    def __init__(
        self,
        names: Names,
        functions: Functions,
        callers: Callers,
        values: Values,
        sources: Sources,
    ) -> None:
        self._names = names
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
        self._operations = Operations(names, values, self.effects)

    def given(self, function: ast.expr, arguments: list[Held]) -> Held:
        """What calling `function` with these gives."""
        names = [ast.Name(f"{place} of the element") for place in range(len(arguments))]
        self._scopes.append({name.id: held for name, held in zip(names, arguments, strict=True)})
        made = self._call(ast.Call(function, [*names], []))
        self._scopes.pop()
        return made

    # Statements.

    def _block(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Return):
            self._returned[-1].append(OUTSIDE if node.value is None else self._held(node.value))
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            held = OUTSIDE if node.value is None else self._held(node.value)
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._bind(target, held)
        elif isinstance(node, ast.AugAssign):
            self._bind(node.target, self._held(ast.BinOp(node.target, node.op, node.value)))
        elif isinstance(node, ast.Expr):
            self._held(node.value)
        elif isinstance(node, ast.If):
            self._held(node.test)
            self._branches([node.body, node.orelse])
        elif isinstance(node, (ast.For, ast.While)):
            if isinstance(node, ast.For):
                self._bind(node.target, each_of(self._held(node.iter)))
            else:
                self._held(node.test)
            self._branches([node.body, []])
        elif isinstance(node, ast.With):
            for item in node.items:
                self._held(item.context_expr)
            self._block(node.body)
        elif isinstance(node, ast.Assert):
            self._held(node.test)
        elif not isinstance(node, (ast.Pass, ast.Raise, ast.FunctionDef, ast.Import)):
            self.effects.known = False

    def _branches(self, branches: list[list[ast.stmt]]) -> None:
        before, after = self._scopes[-1], list[dict[str, Held]]()
        for branch in branches:
            self._scopes[-1] = dict(before)
            self._block(branch)
            if not (branch and isinstance(branch[-1], (ast.Return, ast.Raise))):
                after.append(self._scopes[-1])
        self._scopes[-1] = {
            name: reduce(either, [scope.get(name, OUTSIDE) for scope in after])
            for name in dict.fromkeys(name for scope in after for name in scope)
        }

    def _bind(self, target: ast.expr, held: Held) -> None:
        scope = self._scopes[-1]
        if isinstance(target, ast.Name):
            scope[target.id] = held
        elif isinstance(target, (ast.Tuple, ast.List)):
            for place, each in enumerate(target.elts):
                self._bind(each, part_of(held, place))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            key, was = self._key(target.slice), scope.get(target.value.id)
            if was is None or (key is None and not isinstance(was, Several)):
                self.effects.stateful = True
                return
            self.effects.stateful = self.effects.stateful or key is None
            whole = was if isinstance(was, Several) else Several(((None, was),))
            scope[target.value.id] = having(whole, key, held)
        else:
            self.effects.stateful = True

    # Expressions.

    def _held(self, node: ast.expr) -> Held:
        if self._nesting >= _MAX_NESTING:
            return self.effects.lost()
        self._nesting += 1
        held = self._evaluate(node)
        self._nesting -= 1
        return held

    def _evaluate(self, node: ast.expr) -> Held:
        if isinstance(node, ast.Constant):
            literal = float(node.value) if isinstance(node.value, bool) else constant(node)
            return number(literal) if literal is not None else OUTSIDE
        if isinstance(node, ast.Name):
            return self._scopes[-1].get(node.id) or self._outside(node)
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node)
        if isinstance(node, ast.UnaryOp):
            held = self._held(node.operand)
            negative = isinstance(node.op, ast.USub) and isinstance(held, Tensor) and held.value
            return number(-negative) if negative else held
        if isinstance(node, ast.Subscript):
            return self._subscript(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, (ast.Tuple, ast.List)):
            return row(self._held(each) for each in node.elts)
        if isinstance(node, ast.Dict):
            return self._dictionary(node)
        if isinstance(node, ast.IfExp):
            self._held(node.test)
            return either(self._held(node.body), self._held(node.orelse))
        if isinstance(node, ast.NamedExpr):
            self._bind(node.target, self._held(node.value))
            return self._held(node.target)
        self.effects.exact = False
        if isinstance(node, (ast.ListComp, ast.DictComp)):
            return self._comprehension(node)
        inner = [self._held(each) for each in _operands(node)]
        self.effects.known = self.effects.known and isinstance(node, _UNDERSTOOD)
        tensors = [each for each in inner if isinstance(each, Tensor)]
        compares = isinstance(node, ast.Compare) and len(tensors) == len(inner) == 2
        if compares and not all(each.is_number for each in tensors):
            made = self._operations.pairwise((tensors[0], tensors[1]))
            return made._replace(dtype="bool")
        return OUTSIDE if isinstance(node, _UNDERSTOOD) else vague(row(inner))

    def _dictionary(self, node: ast.Dict) -> Several:
        made = Several(())
        for key, value in zip(node.keys, node.values, strict=True):
            held = self._held(value)
            named = None if key is None else self._key(key)
            spread = held.parts if key is None and isinstance(held, Several) else ((named, held),)
            for each, part in spread:
                made = having(made, each, part)
        return made

    def _key(self, node: ast.expr) -> str | int | None:
        """The key that an expression surely is, be it a constant by name."""
        named = isinstance(node, (ast.Attribute, ast.Name)) and not self._is_of_element(node)
        return _key(self._sources.constant(node) if named else node)

    def _described(self, node: ast.expr) -> Held | None:
        """What stands outside and says of records what is in them."""
        literal = self._descriptions.at(node)
        if literal is None:
            return None
        noted = dict(vars(self.effects))
        self._scopes.append({})
        found = self._held(literal)
        for key, put in self._descriptions.put_in(node, literal):
            named = None if key is None else self._key(key)
            found = having(found, named, self._held(put)) if isinstance(found, Several) else found
        self._scopes.pop()
        vars(self.effects).update(noted)
        return found if all(each.times > 0 for each in tensors(found)) else None

    def _outside(self, node: ast.expr) -> Held:
        value = self._values.number(node)
        named = value is None and self._names.qualified(node) is None
        described = self._described(node) if named else None
        if described is not None:
            return described
        if value is None and self._values.of(node).kind is Kind.VARIABLE:
            self.effects.stateful = True  # what it holds may be another number by then
        return OUTSIDE if value is None else number(value)

    def _attribute(self, node: ast.Attribute) -> Held:
        if not self._is_of_element(node):
            return self._outside(node)
        held = self._held(node.value)
        if node.attr == "audio":  # `tf.audio.decode_wav(data).audio`
            return part_of(held, 0)
        self.effects.exact = False
        return OUTSIDE

    def _is_of_element(self, node: ast.expr) -> bool:
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        return isinstance(node, ast.Call) or (
            isinstance(node, ast.Name) and node.id in self._scopes[-1]
        )

    def _subscript(self, node: ast.Subscript) -> Held:
        held, key = self._held(node.value), self._key(node.slice)
        if isinstance(key, str) or (key is not None and isinstance(held, Several)):
            return part_of(held, key)
        inner = [held] if isinstance(held, Tensor) else []
        places = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for tensor in inner:
            if all(_is_ellipsis(each) or self._is_new_axis(each) for each in places):
                at_end = _is_ellipsis(places[0])
                self.effects.exact = self.effects.exact and at_end
                grown = None if tensor.shape is None else (*tensor.shape, 1)
                return tensor._replace(shape=grown if at_end else None)
        self.effects.exact = False
        picked = isinstance(held, Several) and isinstance(node.slice, (ast.Name, ast.Attribute))
        return each_of(held) if picked else vague(held)

    def _is_new_axis(self, node: ast.expr) -> bool:
        is_none = isinstance(node, ast.Constant) and node.value is None
        return is_none or (self._names.qualified(node) or "").endswith(".newaxis")

    def _comprehension(self, node: ast.ListComp | ast.DictComp) -> Held:
        before = dict(self._scopes[-1])
        for generator in node.generators:
            self._bind(generator.target, each_of(self._held(generator.iter)))
            for test in generator.ifs:
                self._held(test)
        made = self._held(node.elt if isinstance(node, ast.ListComp) else node.value)
        self._scopes[-1] = before
        return Several(((None, made),))

    def _arithmetic(self, node: ast.BinOp) -> Held:
        left, right = self._held(node.left), self._held(node.right)
        if not isinstance(left, Tensor) or not isinstance(right, Tensor):
            self.effects.exact = False
            return vague(row((left, right)))
        if left.is_number and right.is_number:
            return _calculated(node.op, left, right)
        operands = (left, right)
        if isinstance(node.op, (ast.Add, ast.Sub)):
            return self._operations.pairwise(operands)
        if isinstance(node.op, ast.Mult):
            return scaled(self._operations.pairwise(operands), right.value or left.value)
        if isinstance(node.op, ast.Div):
            return self._operations.divided(operands, right.value)
        self.effects.exact = False
        return OUTSIDE if isinstance(node.op, ast.MatMult) else together(left, right)

    # Calls.

    def _call(self, node: ast.Call) -> Held:
        name = self._names.qualified(node.func)
        if name is not None:
            return self._operation(name, node)
        function = self._functions.function(node.func)
        if function is not None:
            return self._function(function, node)
        if isinstance(node.func, ast.Call):
            maker = self._functions.function(node.func.func)
            inner = () if maker is None else self._functions.made_by(maker)
            if maker is not None and inner:
                return self._made(maker, inner, node.func, node)
        layer = self._values.of(node.func)
        given = self._given(node)
        if layer.kind in (Kind.LAYER, Kind.MODEL) and isinstance(layer.origin, ast.Call):
            return self._operations.layer(layer.origin, given.first)
        if isinstance(node.func, ast.Attribute):
            if self._is_of_element(node.func.value):
                return self._method(node, node.func)
        elif isinstance(node.func, ast.Name) and node.func.id in _BUILTINS:
            if node.func.id == "dict":
                return _from_pairs(given.first)
            return given.first if node.func.id in ("list", "tuple") else OUTSIDE
        self.effects.stateful = self.effects.stateful or _is_print(node.func)
        self.effects.known = self.effects.known and _is_print(node.func)
        return OUTSIDE

    def _given(self, node: ast.Call) -> Given:
        places = tuple(self._held(each) for each in node.args)
        return Given(node, places, {each.arg: self._held(each.value) for each in node.keywords})

    def _operation(self, name: str, node: ast.Call) -> Held:
        if name in ("tensorflow.cond", "tensorflow.case"):
            functions = [self._functions.function(each) for each in node.args[1:]]
            called = [self._function(each, ast.Call(node, [], [])) for each in functions if each]
            return reduce(either, called) if called else self.effects.lost()
        return self._operations.made(name, self._given(node))

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
        given = {name.id: self._held(each) for name, each in zip(names, call.args, strict=True)}
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
        passed = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        is_method = self._functions.members.class_of(function) is not None
        for parameter in passed[is_method:]:
            value = self._callers.argument(call, function, parameter.arg)
            scope[parameter.arg] = OUTSIDE if value is None else self._held(value)
        if arguments.vararg is not None:
            rest = call.args[max(0, len(arguments.args) - is_method) :]
            scope[arguments.vararg.arg] = row(self._held(each) for each in rest)
        return scope

    def _running(self, function: FunctionNode, scope: dict[str, Held]) -> Held:
        self._entered.append(function)
        self._scopes.append(scope)
        if isinstance(function, ast.Lambda):
            made = self._held(function.body)
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
        held, name = self._held(callee.value), callee.attr
        if name == "set_shape" and node.args and isinstance(held, Tensor):
            self._bind(callee.value, told(held, sizes(self._held(node.args[0]))))
            self.effects.exact = False
            return OUTSIDE
        key = self._key(node.args[0]) if node.args else None
        if name in ("get", "pop") and key is not None:
            if name == "pop" and isinstance(held, Several):
                self._bind(callee.value, Several(tuple(p for p in held.parts if p[0] != key)))
            return part_of(held, key)
        if name == "update" and isinstance(held, Several) and len(node.args) == 1:
            more = self._held(node.args[0])
            for each, part in more.parts if isinstance(more, Several) else ((None, more),):
                held = having(held, each, part)
            self._bind(callee.value, held)
            return OUTSIDE
        self.effects.exact = False
        self.effects.known = self.effects.known and name in _METHODS
        return held if name in ("copy", "items", "values") else OUTSIDE


def _from_pairs(held: Held) -> Held:
    """The dictionary that is made of pairs, whose keys are not known, or of another one."""
    match held:
        case Several((((None, Several(((0, _), (1, value))))),)):
            return Several(((None, value),))
        case _:
            return held


def _calculated(op: ast.operator, left: Tensor, right: Tensor) -> Tensor:
    operation = ARITHMETIC.get(type(op))
    if operation is None or left.value is None or right.value is None:
        return NUMBER
    made = calculated(operation, left.value, right.value)
    return NUMBER if made is None else number(made)


def _key(node: ast.expr | None) -> str | int | None:
    key = node.value if isinstance(node, ast.Constant) else None
    return key if isinstance(key, (str, int)) else None


def _operands(node: ast.expr) -> list[ast.expr]:
    return [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)]


def _is_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is Ellipsis


def _is_print(callee: ast.expr) -> bool:
    return isinstance(callee, ast.Name) and callee.id == "print"


_UNDERSTOOD = (ast.BoolOp, ast.Compare, ast.JoinedStr, ast.FormattedValue, ast.Lambda, ast.Slice)
_METHODS = frozenset({"as_list", "copy", "get_shape", "items", "keys", "values"})
_BUILTINS = frozenset(
    {"bool", "dict", "float", "int", "isinstance", "len", "list", "max", "min", "range", "str"}
    | {"abs", "enumerate", "sorted", "sum", "tuple", "zip"}
)
