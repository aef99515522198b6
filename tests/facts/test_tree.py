"""The walk: order, parents, scopes, loops."""

import argparse
import ast
import inspect
import sys
from collections.abc import Callable

import pytest

from tfmemlint import File
from tfmemlint.facts.syntax.annotated import Annotated
from tfmemlint.facts.syntax.nodes import root_name, same_code, within
from tfmemlint.facts.syntax.tree import Tree

Look = Callable[[str], tuple[File, list[ast.expr]]]


def test_nodes_of_a_type_come_in_source_order(look: Look) -> None:
    file, _ = look("b(a())\nfor x in c():\n    d()\nelse:\n    e()\n")

    names = [ast.unparse(call.func) for call in file.tf.tree.all(ast.Call)]

    assert names == ["b", "a", "c", "d", "e"]


def test_calls_are_found_by_the_name_of_what_is_called() -> None:
    tree = Tree(ast.parse("g(a.f(x).g(1))\nf(b.h)(c)\n(lambda x: f)()\nt[0](f(2))\n"))

    assert list(map(ast.unparse, tree.calls(("f", "g")))) == [
        "g(a.f(x).g(1))",
        "a.f(x).g(1)",
        "a.f(x)",
        "f(b.h)",
        "f(2)",
    ]
    assert list(map(ast.unparse, tree.calls([""]))) == [
        "f(b.h)(c)",
        "(lambda x: f)()",
        "t[0](f(2))",
    ]
    assert tree.calls(("a", "h", "x", "t")) == []


def test_methods_are_calls_of_attributes_alone() -> None:
    tree = Tree(ast.parse("f(a.f(x).g(1))\na.f\ng()\nself.f()\n"))
    found = [(ast.unparse(call), ast.unparse(method)) for call, method in tree.methods("f", "g")]

    assert found == [("a.f(x).g(1)", "a.f(x).g"), ("a.f(x)", "a.f"), ("self.f()", "self.f")]


def test_attributes_are_found_by_name() -> None:
    tree = Tree(ast.parse("a.b = c.d.b(e.b)\nb = d\n"))

    assert {name: [*map(ast.unparse, found)] for name, found in tree.attributes.items()} == {
        "b": ["a.b", "c.d.b", "e.b"],
        "d": ["c.d"],
    }


def test_a_thousand_elifs_and_a_long_sum_are_walked_without_recursion() -> None:
    chain = "if a == 0:\n    pass\n" + "".join(f"elif a == {i}:\n    b({i})\n" for i in range(900))
    file = File("deep.py", chain + "x = " + " + ".join(["y"] * 900) + "\n")

    assert len(list(file.tf.tree.all(ast.Call))) == 900
    assert len(list(file.tf.tree.all(ast.BinOp))) == 899


def test_decorators_defaults_and_bases_belong_to_the_scope_around(look: Look) -> None:
    file, seen = look(
        """
        @see(here)
        def f(a=see(here)):
            see(inside)
        class C(see(here)):
            pass
        g = lambda b=see(here): see(inside)
        """
    )

    scopes = [type(file.tf.tree.scope(each)).__name__ for each in seen]

    assert scopes == ["Module", "Module", "FunctionDef", "Module", "Module", "Lambda"]


def test_the_first_iterable_of_a_comprehension_is_read_outside_it(look: Look) -> None:
    file, seen = look("[see(x)\n for x in see(xs)\n for y in see(x)]\n")

    scopes = [type(file.tf.tree.scope(each)).__name__ for each in seen]

    assert scopes == ["ListComp", "Module", "ListComp"]


def test_a_loop_repeats_its_body_but_not_its_iterable_or_its_else(look: Look) -> None:
    file, seen = look(
        """
        for a in see(once):
            while see(often):
                see(often)
        else:
            see(once)
        [see(often) for b in see(once)]
        def f():
            see(once)
        """
    )

    repeated = [len(list(file.tf.tree.loops(each))) for each in seen]

    assert repeated == [0, 2, 2, 0, 1, 0, 0]


def test_a_function_in_a_loop_is_not_repeated_by_it(look: Look) -> None:
    file, seen = look("for a in b:\n    def f():\n        see(c)\n")

    assert list(file.tf.tree.loops(seen[0])) == []


ODD = """
async def f(a, /, b: int = 1, *c, d, e=2, **g) -> None:
    global h
    nonlocal_ = {**g, "k": lambda *i: (yield i)}
    async with a as b, c:
        async for d in e: del a[b:c:d], f.g
    try: raise a from b
    except* (b, c) as d: assert a, b
    match a:
        case {"b": [c, *d], **e} | f.g(h, i=j) as k if l: pass
        case None | -1 | {}: x: int; y: int = 3; z += f"{a!r:>{b}} {c}"
    return [a async for a in b if c if d for e in f], (g := not h), a < b <= c, await d
class C(a, metaclass=b, *c, **d): import a.b as c, d; from . import e
"""


def test_all_nodes_are_walked_but_operators_and_contexts() -> None:
    newest = "type A[B: int, *C, **D] = B\n" if sys.version_info >= (3, 12) else ""
    odd = ODD if sys.version_info >= (3, 11) else ODD.replace("except*", "except")
    for source in (odd + newest, *map(inspect.getsource, (argparse, ast, inspect))):
        code = ast.parse(source)
        left_out = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
        tree = Tree(code)
        expected = [each for each in ast.walk(code) if not isinstance(each, left_out)]
        kinds = {type(each) for each in expected} - {Annotated}
        found: list[ast.AST] = [each for kind in kinds for each in tree.all(kind)]

        assert set(expected) == set(within([code])) == set(found)
        assert len(expected) == len(found)


def test_an_annotated_assignment_is_one_like_others_but_where_it_declares_a_field() -> None:
    code = ast.parse("a = 1\ndef f():\n    if b:\n        c: d = e\n        g: h\ni = 2\n")
    field = ast.parse("class J:\n    k: l = m\n")
    tree = Tree(code)
    Tree(code)
    _, inner, _ = tree.all(ast.Assign)
    given = inner.value

    assert isinstance(inner, Annotated)
    assert [each.lineno for each in tree.all(ast.Assign)] == [1, 4, 6]
    assert [tree.statement(each) for each in (inner.annotation, given)] == [inner, inner]
    assert tree.place(inner)[1] == 0
    assert tree.function(given) is code.body[1]
    assert [ast.unparse(each) for each in tree.all(ast.AnnAssign)] == ["g: h"]
    assert [*Tree(field).all(ast.Assign)] == []


def test_a_statement_runs_with_an_earlier_one_if_only_with_is_between() -> None:
    code = ast.parse(
        "a = 1\nwith b:\n    with c:\n        d = 1\n    if e:\n        f = 1\ng = 1\n"
    )
    tree = Tree(code)
    first, *others = tree.all(ast.Assign)

    assert [tree.runs_with(each, first) for each in others] == [True, False, True]
    assert not tree.runs_with(first, others[0])


def test_code_is_the_same_where_it_is_spelled_out_the_same() -> None:
    codes = ["a", "a.b", "a[0]", "a[0.0]", "a[-0.0]", "a[1]", "a[True]", "f(x, y=1)", "f(x, 1)"]
    codes += ["f(x, *y)", "f(x, y=1 + 0)", "f(x, y=1 - 0)", "'1'", "b'1'", "{**a}", "{b: a}"]
    nodes = [ast.parse(spelled).body[0] for code in codes for spelled in (code, f"(\n{code})")]

    for one in nodes:
        for other in nodes:
            assert same_code(one, other) == (ast.dump(one) == ast.dump(other))


def test_what_is_stored_and_what_is_read_are_not_the_same() -> None:
    assignment = ast.parse("x = x").body[0]
    assert isinstance(assignment, ast.Assign)

    assert not same_code(assignment.targets[0], assignment.value)


@pytest.mark.parametrize(
    ("code", "name"),
    [("a", "a"), ("a.b[0].c", "a"), ("a[b]", "a"), ("f().a", ""), ("(a + b).c", ""), ("1", "")],
)
def test_an_attribute_or_element_has_the_name_of_what_it_is_taken_of(code: str, name: str) -> None:
    assert root_name(ast.parse(code, mode="eval").body) == name
