"""A file as rules see it: text, tree, spans, facts, and libcst for one statement at a time."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.syntax.tree import Tree
from tfmemlint.light_typing import TYPE_CHECKING
from tfmemlint.lines import Lines
from tfmemlint.parsing import parse
from tfmemlint.vocabulary import ELSEWHERE, Span

if TYPE_CHECKING:
    from tfmemlint.concrete import Concrete


class File:
    """One Python file, parsed once; everything a rule may read, which never changes."""

    def __init__(
        self,
        path: str,
        text: str,
        tensorflow: tuple[int, ...] | None = None,
        cells: Sequence[int] = (),
        assumed: Mapping[str, float] | None = None,
        tf: TensorFlow | None = None,
    ) -> None:
        self.path = path
        self.text = text
        self.cells = cells
        """Where the cells of a notebook begin."""
        self.tensorflow = tensorflow
        """The oldest version that the code is to run with; None if any."""
        self.tf = tf or TensorFlow(Tree(parse(text, path)), assumed=assumed)
        """What the file says about TensorFlow; given where other files are known, too."""
        self.tree = self.tf.tree.module
        self.unread: list[ast.AST] | None = None
        """What libcst was to read, as long as that is put off."""

    @cached_property
    def lines(self) -> Lines:
        """Where the lines of the text begin."""
        return Lines(self.text)

    @cached_property
    def is_test(self) -> bool:
        """Whether the file tests other code, with little data: its imports or its name say so.

        A script whose name says so and that has no test in it tests a model, with all the data; and
        what others import that are no tests is theirs.
        """
        if self.tf.is_test:
            return True
        name = self.path.replace("\\", "/").rpartition("/")[2]
        named = name.endswith("_test.py") and not name.endswith(_TRAINS_TOO)
        if not named and not name.startswith("test_"):
            return False
        if _has_tests(self.tree):
            return True
        does_something = any(map(_does_something, self.tree.body))
        return not does_something and all(each.is_test for each in self.tf.imports.importers)

    @cached_property
    def is_for_sessions(self) -> bool:
        """Whether Keras runs sessions for this file, as with TensorFlow 1: something says so.

        That is what the project requires, what this file or one that imports it takes from where
        or makes by hand, or a comment: `# Keras 2.2.4`.
        """
        old = self.tensorflow is not None and self.tensorflow < (2,)
        old = (
            old
            or self.tf.is_for_keras_1
            or any(
                each.is_for_session_keras or each.tracing.by_hand
                for each in (self.tf, *self.tf.imports.importers)
            )
        )
        return old or _WRITTEN_FOR_SESSIONS.search(self.text) is not None

    def shows(self, statement: ast.stmt) -> bool:
        """Whether a statement ends a cell, be it one of a script: what it gives is displayed."""
        block, place = self.tf.tree.place(statement)
        if block is not self.tree.body:
            return False
        end = self.span(statement).end
        following = block[place + 1 : place + 2]
        until = self.span(following[0]).start if following else len(self.text)
        between = self.text[end:until].splitlines()
        begun = any(line.lstrip().startswith(CELL) for line in between)
        begun = begun or (_EXPORTED in self.text and not all(map(str.strip, between[1:])))
        last = bool(self.cells) and not following
        return begun or last or any(end <= start <= until for start in self.cells)

    def has_cells_between(self, first: Located, last: Located) -> bool:
        """Whether a cell begins after the start of `first` and before the end of `last`."""
        start, end = span = self.span(first, last)
        marked = any(line.startswith(CELL) for line in self.source(span).splitlines())
        return marked or any(start < cell <= end for cell in self.cells)

    def span(self, first: Located, last: Located | None = None) -> Span:
        """From the start of `first` to the end of `last`, decorators included.

        ELSEWHERE for what stands in another file.
        """
        if self.tf.tree.elsewhere(first) is not None:
            return ELSEWHERE
        start = self.lines.offset(first.lineno, first.col_offset)
        decorators: list[ast.expr] = getattr(first, "decorator_list", [])
        if decorators:
            first_decorator = self.lines.offset(decorators[0].lineno, decorators[0].col_offset)
            start = self.text.rindex("@", 0, first_decorator)
        end = last or first
        assert end.end_lineno is not None
        assert end.end_col_offset is not None
        return Span(start, self.lines.offset(end.end_lineno, end.end_col_offset))

    def step(self, call: ast.Call) -> Span:
        """The span of `shuffle(1000)` in `ds.shuffle(1000)`, or of the whole call if it is none."""
        whole, callee = self.span(call), call.func
        if whole == ELSEWHERE or not isinstance(callee, ast.Attribute):
            return whole
        end = self.span(callee).end
        start = end - len(callee.attr)
        is_spelt_so = self.text[start:end] == callee.attr  # Python folds letters that look alike
        return Span(start, whole.end) if is_spelt_so else whole

    def named(self, node: Located | ast.comprehension) -> str:
        """The code of an expression, or the head of a loop, as a message can have it: short."""
        match node:
            case ast.While():
                text = f"while {self._line(node.test)}"
            case ast.For() | ast.AsyncFor() | ast.comprehension():
                text = f"for {self._line(node.target)} in {self._line(node.iter)}"
            case _:
                text = self._line(node)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."

    def called(self, function: ast.expr | None, otherwise: str) -> str:
        """A function as a message speaks of it: by its name, where it has one."""
        if isinstance(function, (ast.Name, ast.Attribute)):
            return f"`{ast.unparse(function)}`"
        return otherwise

    def _line(self, node: Located) -> str:
        text = self.source(node)
        return ast.unparse(node) if "\n" in text else text

    def source(self, where: Located | Span) -> str:
        """The user's own text of a node or a span; of another file's, what it amounts to."""
        if not isinstance(where, Span) and self.tf.tree.elsewhere(where) is not None:
            return ast.unparse(where)
        start, end = where if isinstance(where, Span) else self.span(where)
        return self.text[start:end]

    def concrete(self, node: ast.AST) -> Concrete | None:
        """The libcst tree of the innermost statement that holds `node`.

        None where libcst does not read that statement back exactly as it stands.
        Importing libcst costs more than linting a file, so it waits for the first finding to show.
        """
        if self.unread is not None:
            self.unread.append(node)
            return None
        from tfmemlint.concrete import concrete  # noqa: PLC0415

        return concrete(self, node) if self.tf.tree.elsewhere(node) is None else None


_WRITTEN_FOR_SESSIONS = re.compile(
    r"^[ \t]*#.*\b(?:tensorflow[- =v]*1\.\d|keras[- =v]*2\.[0-3](?!\d))",
    re.IGNORECASE | re.MULTILINE,
)
_LONGEST = 60
_TRAINS_TOO = ("_and_test.py", "_train_test.py", "_val_test.py")
"""Names that are of parts of the data."""

CELL = ("# %%", "#%%", "# In[")
"""How scripts mark that a cell begins."""
_EXPORTED = "Automatically generated by Colab"
"""What a script says of itself whose cells are but empty lines apart."""

Located = ast.expr | ast.stmt | ast.arg | ast.keyword | ast.alias | ast.excepthandler | ast.pattern


def _has_tests(module: ast.Module) -> bool:
    """Whether functions, classes or methods are called as those of tests are."""
    classes = [each for each in module.body if isinstance(each, ast.ClassDef)]
    return any(each.name.startswith("Test") or _is_case(each) for each in classes) or any(
        each.name.startswith("test_")
        for body in (module.body, *(each.body for each in classes))
        for each in body
        if isinstance(each, (ast.AsyncFunctionDef, ast.FunctionDef))
    )


def _is_case(made: ast.ClassDef) -> bool:
    """Whether a class is one of test cases: `class ReaderTest(test_util.TensorFlowTestCase)`."""
    return any(ast.unparse(base).endswith("TestCase") for base in made.bases)


def _does_something(statement: ast.stmt) -> bool:
    """Whether a statement makes a module one that is run, rather than imported."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Call)
    if isinstance(statement, ast.If):
        return any(getattr(each, "id", "") == "__name__" for each in ast.walk(statement.test))
    return isinstance(statement, (ast.For, ast.While, ast.With))
