"""A program about to be rewritten: its tree, where names are bound, and one finding in it."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, ast.Lambda, *COMPREHENSIONS, ast.ClassDef, ast.Module)
UNMOVABLE = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr, ast.Starred)
BUILTINS = {*dir(builtins)}


class NotTheSame(Exception):
    """Why a move would make another program of this one."""


def contains(node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(each, kinds) for each in ast.walk(node))


def is_super(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("super", "locals", "globals", "vars")


@dataclass
class Program:
    """A tree with the finding's node and the value that is moved; moves change it in place."""

    module: ast.Module
    flagged: ast.AST
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for parent in ast.walk(self.module):
            for child in ast.iter_child_nodes(parent):
                self.parents[child] = parent
        names = {each.id for each in ast.walk(self.module) if isinstance(each, ast.Name)}
        names |= {each.arg for each in ast.walk(self.module) if isinstance(each, ast.arg)}
        self.taken = names | {
            each.name
            for each in ast.walk(self.module)
            if isinstance(each, (*FUNCTIONS, ast.ClassDef))
        }
        self.imported = {
            (alias.asname or alias.name).partition(".")[0]
            for each in ast.walk(self.module)
            if isinstance(each, (ast.Import, ast.ImportFrom))
            for alias in each.names
        }
        self.use, self.value = self._at_issue()
        self.statement = next(each for each in self.up(self.value) if isinstance(each, ast.stmt))

    # What the finding is about.

    def _at_issue(self) -> tuple[ast.expr, ast.expr]:
        """The expression that uses the value, and the value: by its place alone.

        The receiver of the flagged call, else the local function that is called, else its first
        argument that is no constant, looked at in the same way; else what the call makes; else its
        first constant.
        """
        use = self._use()
        if isinstance(use, ast.Call):
            value = self._receiver(use) or self._argument(use)
            if value is None and not isinstance(self.parents[use], ast.Expr):
                return use, use
            if value is None:
                constants = [*use.args, *(each.value for each in use.keywords)]
                if not constants:
                    raise NotTheSame("nobody has what is made: to move it is to keep it")
                value = constants[0]
            return use, value
        if isinstance(use, ast.BinOp):
            left = isinstance(use.left, ast.Constant)
            return use, use.right if left else use.left
        if isinstance(use, ast.Subscript):
            return use, use.value
        if isinstance(use, COMPREHENSIONS):
            return use, use.generators[0].iter
        if self._is_of_module(use):
            raise NotTheSame("a function of a library is no value of the program's")
        return use, use

    def _use(self) -> ast.expr:
        node = self.flagged
        while True:
            parent = self.parents.get(node)
            if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
                node = node.iter
            elif isinstance(node, (ast.With, ast.AsyncWith)):
                node = node.items[0].context_expr
            elif isinstance(node, (ast.Assign, ast.Expr, ast.Return, ast.AugAssign, ast.AnnAssign)):
                assert node.value is not None
                node = node.value
            elif isinstance(node, ast.While):
                node = node.test
            elif isinstance(node, FUNCTIONS):
                if not node.decorator_list:
                    raise NotTheSame("a definition has no value to move")
                node = node.decorator_list[-1]
            elif isinstance(node, (ast.ClassDef, ast.arguments, ast.arg)):
                raise NotTheSame("a definition has no value to move")
            elif isinstance(node, ast.keyword) or (
                isinstance(node, ast.Constant) and isinstance(parent, (ast.keyword, ast.Call))
            ):
                assert parent is not None
                node = parent
            elif isinstance(parent, ast.Call) and parent.func is node:
                node = parent
            elif isinstance(node, ast.expr):
                return node
            else:
                raise NotTheSame(f"a {type(node).__name__} has no value to move")

    def _receiver(self, call: ast.Call) -> ast.expr | None:
        called = call.func
        if isinstance(called, ast.Attribute) and not self._is_of_module(called.value):
            return called.value
        if isinstance(called, ast.Name) and called.id not in self.imported | BUILTINS:
            return called
        return called if isinstance(called, ast.Call) else None

    def _argument(self, call: ast.Call) -> ast.expr | None:
        for argument in [*call.args, *(each.value for each in call.keywords)]:
            value = self._inner(argument)
            if value is not None:
                return value
        return None

    def _inner(self, value: ast.expr) -> ast.expr | None:
        if isinstance(value, (ast.Constant, ast.Lambda, ast.Starred, ast.JoinedStr)):
            return None
        if self._is_of_module(value):
            return None
        if isinstance(value, (ast.Tuple, ast.List)):
            return next(filter(None, map(self._inner, value.elts)), None)
        if isinstance(value, ast.Call):
            return self._receiver(value) or self._argument(value) or value
        return value

    def _is_of_module(self, value: ast.expr) -> bool:
        """Whether this is a name of a module, such as `tf.data.Dataset`."""
        while isinstance(value, ast.Attribute):
            value = value.value
        if not isinstance(value, ast.Name) or value.id in self.imported:
            return isinstance(value, ast.Name)
        given = [self.parents[each] for each in self.binders(self.module, value.id)]
        return len(given) == 1 and (  # `tf1 = tf.compat.v1`: the module once more
            isinstance(given[0], ast.Assign)
            and isinstance(given[0].value, ast.Attribute)
            and self._is_of_module(given[0].value)
        )

    # Where things are.

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """The node and all that it stands in."""
        at: ast.AST | None = node
        while at is not None:
            yield at
            at = self.parents.get(at)

    def scopes(self, node: ast.AST) -> Iterator[ast.AST]:
        """The scopes around a node, from within; classes are seen from themselves alone."""
        child = node
        first = True
        for each in [*self.up(node)][1:]:
            if isinstance(each, FUNCTIONS) and child in (
                *each.decorator_list,
                each.args,
                each.returns,
            ):
                child = each  # read outside of the function
                continue
            if isinstance(each, SCOPES) and (first or not isinstance(each, ast.ClassDef)):
                yield each
                first = False
            child = each

    def binders(self, scope: ast.AST, name: str) -> list[ast.AST]:
        """What binds a name in a scope itself."""
        found: list[ast.AST] = []
        if isinstance(scope, (*FUNCTIONS, ast.Lambda)):
            found += [
                each
                for each in ast.walk(scope.args)
                if isinstance(each, ast.arg) and each.arg == name
            ]
        pending = [
            each for each in ast.iter_child_nodes(scope) if not isinstance(each, ast.arguments)
        ]
        while pending:
            node = pending.pop()
            if binds(node, name):
                found.append(node)
            if not isinstance(node, SCOPES):
                pending += ast.iter_child_nodes(node)
        return found

    def owner(self, name: ast.Name) -> ast.AST | None:
        """The scope whose variable a name is; None of builtins."""
        for scope in self.scopes(name):
            found = self.binders(scope, name.id)
            if any(isinstance(each, ast.Global) for each in found):
                return self.module
            if any(isinstance(each, ast.Nonlocal) for each in found):
                continue
            if found:
                return scope
        return None

    def locals_in(self, expression: ast.AST) -> list[str]:
        """The local names that an expression reads of code around it."""
        found: list[str] = []
        for name in ast.walk(expression):
            if not isinstance(name, ast.Name) or name.id in found:
                continue
            owner = self.owner(name)
            inside = owner is not None and any(each is expression for each in self.up(owner))
            if owner is not None and not isinstance(owner, ast.Module) and not inside:
                found.append(name.id)
        return sorted(found)

    def mentions(self, name: str, owner: ast.AST) -> list[ast.Name]:
        """All uses of a scope's variable, of code within that scope too."""
        return [
            each
            for each in ast.walk(owner)
            if isinstance(each, ast.Name) and each.id == name and self.owner(each) is owner
        ]

    def fresh(self, name: str) -> str:
        while name in self.taken | self.imported | BUILTINS:
            name += "_"
        self.taken.add(name)
        return name

    # What changes it.

    def replace(self, old: ast.AST, new: ast.AST) -> None:
        parent = self.parents[old]
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(each is old for each in value):
                setattr(parent, name, [new if each is old else each for each in value])
        if old is self.flagged:
            self.flagged = new
        self.parents[new] = parent
        for each in ast.walk(new):
            for child in ast.iter_child_nodes(each):
                self.parents[child] = each

    def insert(self, before: ast.stmt, source: str, **values: ast.expr) -> None:
        """Puts statements before one, the names in them that are given replaced by expressions."""
        parent = self.parents[before]
        for _, block in ast.iter_fields(parent):
            if isinstance(block, list) and any(each is before for each in block):
                at = next(number for number, each in enumerate(block) if each is before)
                block[at:at] = written(source, **values)
                return
        raise AssertionError("a statement stands in a block")

    def on_top(self, source: str, **values: ast.expr) -> None:
        """Puts statements behind the imports at the module's head."""
        body = self.module.body
        at = 0
        while at < len(body) and (
            isinstance(body[at], (ast.Import, ast.ImportFrom))
            or (at == 0 and ast.get_docstring(self.module) is not None)
        ):
            at += 1
        body[at:at] = written(source, **values)

    def hoist(self) -> None:
        """Refuses where the value may not be read before its statement just as well."""
        value, statement = self.value, self.statement
        if contains(value, UNMOVABLE) or any(map(is_super, ast.walk(value))):
            raise NotTheSame("it cannot be read elsewhere")
        child: ast.AST = value
        for each in [*self.up(value)][1:]:
            if isinstance(each, (ast.Lambda, *COMPREHENSIONS)):
                first = isinstance(each, COMPREHENSIONS) and child is each.generators[0]
                if not (first and self._is_first_source(value, each)):
                    raise NotTheSame("it is read in a lambda or a comprehension, again and again")
            if isinstance(each, (ast.BoolOp, ast.IfExp)) and contains(value, (ast.Call,)):
                raise NotTheSame("it is made under a condition")
            if isinstance(each, ast.While):
                raise NotTheSame("it is read before each round")
            if each is statement:
                break
            child = each
        if contains(value, (ast.Call,)):
            for each in ast.walk(statement):
                inside = any(one is value for one in self.up(each))
                around = any(one is each for one in self.up(value))
                if isinstance(each, ast.Call) and not inside and not around and before(each, value):
                    raise NotTheSame("another call comes before it")

    def _is_first_source(self, value: ast.expr, comprehension: ast.AST) -> bool:
        assert isinstance(comprehension, COMPREHENSIONS)
        return any(each is comprehension.generators[0].iter for each in self.up(value))

    def keeps_alive(self) -> None:
        """Refuses where another reference would keep what the program drops."""
        if isinstance(self.value, ast.Name):
            owner = self.owner(self.value)
            if owner is not None and any(
                isinstance(each, ast.Name) and isinstance(each.ctx, ast.Del)
                for each in self.binders(owner, self.value.id)
            ):
                raise NotTheSame("`del` is to free it")


def binds(node: ast.AST, name: str) -> bool:
    """Whether a node, taken by itself, gives a name of its scope a value."""
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, (ast.Global, ast.Nonlocal)):
        return name in node.names
    if isinstance(node, ast.alias):
        return (node.asname or node.name).partition(".")[0] == name
    return isinstance(node, (*FUNCTIONS, ast.ClassDef, ast.ExceptHandler)) and node.name == name


def before(one: ast.AST, other: ast.AST) -> bool:
    places = (
        (getattr(one, "lineno", 0), getattr(one, "col_offset", 0)),
        (
            getattr(other, "lineno", 0),
            getattr(other, "col_offset", 0),
        ),
    )
    return places[0] < places[1]


class _Filled(ast.NodeTransformer):
    def __init__(self, values: dict[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._values.get(node.id, node)


def written(source: str, **values: ast.expr) -> list[ast.stmt]:
    """Statements of source, with expressions in place of some of its names."""
    filled = _Filled(values)
    return [filled.visit(each) for each in ast.parse(source).body]


def copied(value: ast.expr) -> ast.expr:
    """An expression once more, as one that is read."""
    return copy.deepcopy(value)
