"""The walk: order, parents, scopes, loops."""

import ast
from collections.abc import Callable

from tfmemlint import File

Look = Callable[[str], tuple[File, list[ast.expr]]]


def test_nodes_of_a_type_come_in_source_order(look: Look) -> None:
    file, _ = look("b(a())\nfor x in c():\n    d()\nelse:\n    e()\n")

    names = [ast.unparse(call.func) for call in file.tf.tree.all(ast.Call)]

    assert names == ["b", "a", "c", "d", "e"]


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
