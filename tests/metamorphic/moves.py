"""Ways that a value can go without the program becoming another one."""

from __future__ import annotations

import ast
from collections.abc import Callable

from tests.metamorphic.programs import (
    FUNCTIONS,
    SCOPES,
    UNMOVABLE,
    NotTheSame,
    Program,
    contains,
    copied,
    is_super,
    written,
)

Move = Callable[[Program], None]


def attribute(program: Program) -> None:
    """`box.x = v` … `box.x`; a variable lives in the attribute all along."""
    if (owner := _relocatable(program)) is None:
        _at_use(program, "{box} = types.SimpleNamespace()\n{box}.{name} = value", "{box}.{name}")
    else:
        _relocate(program, owner, "{box} = types.SimpleNamespace()", "{box}.{name}")
    _import(program, "import types")


def entry(program: Program) -> None:
    """`shelf["x"] = v` … `shelf["x"]`; a variable lives in the dictionary all along."""
    if (owner := _relocatable(program)) is None:
        _at_use(program, "{box} = {{'{name}': value}}", "{box}['{name}']", box="shelf")
    else:
        _relocate(program, owner, "{box} = {{}}", "{box}['{name}']", box="shelf")


def listed(program: Program) -> None:
    """`cell = [v]` … `cell[0]`."""
    _at_use(program, "{box} = [value]", "{box}[0]", box="cell")


def paired(program: Program) -> None:
    """`pair = (v, None)`, taken apart again."""
    box = program.fresh("pair")
    _at_use(program, f"{box} = (value, None)\n{{box}}, _ = {box}", "{box}", box="first")


def zipped(program: Program) -> None:
    """`for v, _ in zip([v], [None]):` around the statement."""
    statement = program.statement
    if isinstance(statement, (*FUNCTIONS, ast.ClassDef)) or _leaves(statement):
        box = "((({box}, _),)) = zip([value], [None])"
        _at_use(program, box.replace("((", "(").replace("))", ")"), "{box}", box="each")
        return
    program.hoist()
    program.keeps_alive()
    box = program.fresh("each")
    value = program.value
    parent = program.parents[statement]
    program.replace(value, ast.Name(box, ast.Load()))
    (loop,) = written(f"for {box}, _ in zip([value], [None]):\n    pass", value=value)
    assert isinstance(loop, ast.For)
    loop.body = [statement]
    for _, block in ast.iter_fields(parent):
        if isinstance(block, list) and any(each is statement for each in block):
            block[:] = [loop if each is statement else each for each in block]


def helper_argument(program: Program) -> None:
    """The use of the value moves into a function that is given it."""
    use, value = program.use, program.value
    _moves_away(program, use)
    others = [each for each in program.locals_in(use) if not _is(value, each)]
    name, given = program.fresh("used"), program.fresh("given")
    if use is value:
        raise NotTheSame("nothing is done with it")
    arguments: list[ast.expr] = [value, *map(_load, others)]
    called = ast.Call(_load(name), arguments, [])
    parent_of_use = program.parents[use]
    program.replace(value, _load(given))
    program.parents[use] = parent_of_use
    program.replace(use, called)
    program.on_top(f"def {name}({', '.join([given, *others])}):\n    return use", use=use)


def method_of_another_class(program: Program) -> None:
    """The use of the value moves into a method of an object that holds it."""
    use, value = program.use, program.value
    _moves_away(program, use)
    if use is value:
        raise NotTheSame("nothing is done with it")
    others = [each for each in program.locals_in(use) if not _is(value, each)]
    if {"self", "cls"} & {*others}:
        others = [each for each in others if each != "self"]
    name = program.fresh("User")
    owner = "owner" if any(_is(each, "self") for each in ast.walk(use) if each is not value) else ""
    made = ast.Call(_load(name), [value], [])
    arguments: list[ast.expr] = [*map(_load, others), *([_load("self")] if owner else [])]
    called = ast.Call(ast.Attribute(made, "use", ast.Load()), arguments, [])
    parent_of_use = program.parents[use]
    program.replace(value, ast.Attribute(_load("self_"), "held", ast.Load()))
    program.parents[use] = parent_of_use
    program.replace(use, called)
    for each in ast.walk(use):
        if isinstance(each, ast.Name) and each.id in ("self", "self_"):
            each.id = "self" if each.id == "self_" else "owner"
    parameters = ", ".join(["self", *others, *([owner] if owner else [])])
    program.on_top(
        f"class {name}:\n"
        "    def __init__(self, held):\n        self.held = held\n"
        f"    def use({parameters}):\n        return use",
        use=use,
    )


def helper_result(program: Program) -> None:
    """The value is what a function gives back: what made it stands there."""
    value = _making(program)
    if value is None:
        program.hoist()
        _same(program)
        return
    locals_read = program.locals_in(value)
    name = program.fresh("made")
    call = ast.Call(_load(name), [*map(_load, locals_read)], [])
    program.replace(value, call)
    _before_all(program, f"def {name}({', '.join(locals_read)}):\n    return value", value)


def dataclass_field(program: Program) -> None:
    """`box = Box(v)` of a dataclass, and `box.x`."""
    name, kind = _name(program.value), program.fresh("Box")
    making = _making(program) if isinstance(program.value, ast.Name) else None
    owner = _relocatable(program)
    if making is not None and owner is not None:
        assert isinstance(program.value, ast.Name)
        box = program.fresh("box")
        for each in program.mentions(program.value.id, owner):
            if isinstance(each.ctx, ast.Store):
                each.id = box
            else:
                program.replace(each, _expression(f"{box}.{name}"))
        program.replace(making, call := ast.Call(_load(kind), [], []))
        call.args = [making]
    else:
        _at_use(program, f"{{box}} = {kind}(value)", f"{{box}}.{name}")
    program.on_top(f"@dataclasses.dataclass\nclass {kind}:\n    {name}: object")
    _import(program, "import dataclasses")


MOVES: dict[str, Move] = {
    "attribute": attribute,
    "dictionary entry": entry,
    "list and back": listed,
    "tuple": paired,
    "zip": zipped,
    "helper's argument": helper_argument,
    "helper's result": helper_result,
    "method of another class": method_of_another_class,
    "dataclass field": dataclass_field,
}


def _load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def _expression(source: str) -> ast.expr:
    return ast.parse(source, mode="eval").body


def _is(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _name(value: ast.expr) -> str:
    if isinstance(value, ast.Name):
        return value.id
    return value.attr if isinstance(value, ast.Attribute) else "value"


def _import(program: Program, source: str) -> None:
    module = source.removeprefix("import ")
    if module in program.imported:
        return
    body = program.module.body
    future = [
        each for each in body if isinstance(each, ast.ImportFrom) and each.module == "__future__"
    ]
    at = (
        body.index(future[-1]) + 1 if future else int(ast.get_docstring(program.module) is not None)
    )
    body[at:at] = written(source)


def _at_use(program: Program, before: str, use: str, box: str = "box") -> None:
    """Puts the value somewhere right before its statement, and reads it there."""
    program.hoist()
    program.keeps_alive()
    names = {"box": program.fresh(box), "name": _name(program.value)}
    value = program.value
    program.replace(value, _expression(use.format(**names)))
    program.insert(program.statement, before.format(**names), value=value)


def _relocatable(program: Program) -> ast.AST | None:
    """The scope of a variable that assignments alone give its values; None if it is no such."""
    if not isinstance(program.value, ast.Name):
        return None
    name = program.value.id
    owner = program.owner(program.value)
    if not isinstance(owner, (*FUNCTIONS, ast.Module)):
        return None
    for each in ast.walk(owner):
        if isinstance(each, (ast.Global, ast.Nonlocal)) and name in each.names:
            return None
    for each in program.binders(owner, name):
        statement = next(one for one in program.up(each) if isinstance(one, ast.stmt))
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, (ast.AugAssign, ast.AnnAssign)) and statement.value is not None:
            targets = [statement.target]
        flat = [one for target in targets for one in getattr(target, "elts", [target])]
        if not any(one is each for one in flat):
            return None
    return owner


def _relocate(program: Program, owner: ast.AST, made: str, place: str, box: str = "box") -> None:
    assert isinstance(program.value, ast.Name)
    names = {"box": program.fresh(box), "name": program.value.id}
    for each in program.mentions(program.value.id, owner):
        new = _expression(place.format(**names))
        assert isinstance(new, (ast.Attribute, ast.Subscript))
        new.ctx = each.ctx
        statement = program.parents[each]
        if isinstance(statement, ast.AnnAssign) and statement.target is each:
            statement.simple = 0
        program.replace(each, new)
    if isinstance(owner, ast.Module):
        program.on_top(made.format(**names))
    else:
        assert isinstance(owner, FUNCTIONS)
        at = int(ast.get_docstring(owner) is not None)
        owner.body[at:at] = written(made.format(**names))


def _leaves(statement: ast.stmt) -> bool:
    """Whether a `break` or `continue` in this statement is meant for a loop around it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.Break, ast.Continue)):
            return True
        if isinstance(node, (ast.For, ast.While, ast.AsyncFor)):
            pending += node.orelse
        elif not isinstance(node, SCOPES):
            pending += ast.iter_child_nodes(node)
    return False


def _moves_away(program: Program, use: ast.expr) -> None:
    if contains(use, UNMOVABLE) or any(map(is_super, ast.walk(use))):
        raise NotTheSame("it cannot be read elsewhere")
    for name in program.locals_in(use):
        for each in ast.walk(use):
            if _is(each, name) and any(
                isinstance(one, ast.ClassDef)
                for one in [program.owner(each)]  # type: ignore[arg-type]
            ):
                raise NotTheSame("a class's own name is read")
    for each in ast.walk(use):
        if (
            isinstance(each, ast.Attribute)
            and each.attr.startswith("__")
            and not each.attr.endswith("__")
        ):
            raise NotTheSame("a private name is another one in another class")


def _making(program: Program) -> ast.expr | None:
    """The expression that makes the value, where one statement alone gives it."""
    value = program.value
    if isinstance(value, ast.Name):
        owner = program.owner(value)
        binders = program.binders(owner, value.id) if owner is not None else []
        statement = program.parents[binders[0]] if len(binders) == 1 else None
        if not isinstance(statement, ast.Assign) or statement.targets != binders:
            return None
        value = statement.value
    elif isinstance(value, ast.Attribute):
        return None
    if isinstance(value, (ast.Lambda, ast.Constant)) and program.value is value:
        return None
    try:
        _moves_away(program, value)
    except NotTheSame:
        return None
    return value


def _same(program: Program) -> None:
    """Through a function that gives back what it is given."""
    name = program.fresh("same")
    value = program.value
    program.replace(value, call := ast.Call(_load(name), [], []))
    call.args = [value]
    program.on_top(f"def {name}(given):\n    return given")


def _before_all(program: Program, source: str, value: ast.expr) -> None:
    """A function at the module's head; its module names are read only when it is called."""
    program.on_top(source, value=value)


__all__ = ["MOVES", "Move", "copied"]
