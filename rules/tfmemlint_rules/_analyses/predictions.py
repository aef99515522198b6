"""Calls of `predict` that loops repeat, each for a row or a batch of its own."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.flow.loops import Loop, Over
from tfmemlint.facts.flow.treated import Treated
from tfmemlint.facts.library import makers
from tfmemlint.facts.library.kinds import Kind
from tfmemlint.facts.library.training import TRAINS
from tfmemlint.facts.syntax.bindings import Binding, How
from tfmemlint.facts.syntax.nodes import called, names_in
from tfmemlint.facts.syntax.tree import LEAVES, FunctionNode
from tfmemlint.light_typing import NamedTuple
from tfmemlint_rules._analyses.batches import FEW, LARGE, Batches, Rows
from tfmemlint_rules._analyses.reads_of_one import ReadsOfOne
from tfmemlint_rules._analyses.single_passes import SinglePasses
from tfmemlint_rules._analyses.training_steps import TrainingSteps

_MAX_HOPS = 4
_OFTEN = 8
"""A call in one of so many rounds still takes most of their time."""

_COMPUTES = ("keras.", "numpy", "tensorflow")
_PLOTS = "matplotlib.pyplot."
_DRAWS = ("matplotlib",)
_SHOWS = frozenset(
    {"IPython.display.display", "matplotlib.pyplot.savefig", "matplotlib.pyplot.show"}
)
"""What takes longer than a prediction, be it for people to see at once or later."""
_WRITES = frozenset(
    {
        "cv2.imwrite",
        "imageio.imsave",
        "imageio.imwrite",
        "imageio.v2.imwrite",
        "imageio.v3.imwrite",
        "keras.preprocessing.image.save_img",
        "keras.utils.save_img",
        "matplotlib.image.imsave",
        "matplotlib.pyplot.imsave",
        "scipy.misc.imsave",
        "skimage.io.imsave",
        "tensorflow.io.write_file",
    }
)
_ENTRIES = frozenset({"items", "values"})
_IMAGES = ("PIL.Image.", "keras.preprocessing.image.array_to_img", "keras.utils.array_to_img")
_ASKS_PEOPLE = frozenset(
    {"google.colab.files.upload", "ipywidgets.FileUpload", "ipywidgets.widgets.FileUpload"}
)
_ENDS = frozenset({"exit", "quit", "sys.exit"})
_SEES = frozenset({"detectMultiScale", "detect_faces", "findContours"})
"""What finds objects in a picture."""
_FILMS = frozenset({"cv2.VideoCapture"})
_SAMPLES = frozenset({"random.choices", "random.sample"})
_TAKES_TIME = frozenset(
    f"{clock}{unit}"
    for clock in ("time.time", "time.perf_counter", "time.monotonic", "time.process_time")
    for unit in ("", "_ns")
)


class Prediction(NamedTuple):
    """One call of `predict` that is run many times for little each time."""

    call: ast.Call
    loop: Loop
    """The innermost loop that has many rounds, be it around a call of the function."""
    rows: Rows
    times: int | None
    """How often the program makes it in all, at the most; None where nothing says so."""


class _Rounds(NamedTuple):
    """The loops that run a call, from the inside out, and by which calls of its function."""

    loop: Loop | None
    """The innermost one that has many rounds."""
    times: int
    anew: bool
    """Whether what is predicted is made anew each time, by what may give something else."""
    changes: bool
    """Whether each round gives something else to predict."""
    through: tuple[tuple[FunctionNode, ast.Call], ...]
    among: tuple[Loop, ...]


class Predictions:
    """What models are asked to predict in loops."""

    def __init__(self, tf: TensorFlow) -> None:
        self._tree = tf.tree
        self._bindings = tf.bindings
        self._names = tf.names
        self._functions = tf.functions
        self._callers = tf.callers
        self._flow = tf.flow
        self._sources = tf.sources
        self._loops = tf.loops
        self._counted_rounds = tf.counted_rounds
        self._values = tf.values
        self._consumers = tf.consumers
        self._iterables = tf.iterables
        self._numbers = tf.numbers
        self._passes = tf.passes
        self._treated = tf.of(Treated)
        self._batches = tf.of(Batches)
        self._tracing = tf.tracing
        self._reads_of_one = tf.of(ReadsOfOne)
        self._training = tf.of(TrainingSteps)
        self._passes_once = tf.of(SinglePasses)

    @cached_property
    def repeated(self) -> tuple[Prediction, ...]:
        """Every such call, in source order."""
        found = (self._prediction(*each) for each in self._tree.methods("predict"))
        calls = [each for each in found if each is not None]
        # there `predict` runs a session, and makes no pipeline
        return () if calls and self._tracing.by_hand else tuple(calls)

    def _prediction(self, call: ast.Call, callee: ast.Attribute) -> Prediction | None:
        given = makers.argument(call, 0, "x")
        told = any(each.arg in ("steps", None) for each in call.keywords) or len(call.args) > 3
        if given is None or told:
            return None
        ways = self._repeats(call, callee.value, [given], _Rounds(None, 1, False, False, (), ()))
        first = next(ways, None)
        if first is None or not self._passes.is_model(callee.value):
            return None
        if self._functions.function(callee) is not None or self._tracing.why(call) is not None:
            return None
        for way in (first, *ways):
            rows = self._rows(call, given, way)
            if rows is not None and way.loop is not None:
                return Prediction(call, way.loop, rows, self._in_all(call, _MAX_HOPS))
        return None

    def _in_all(self, node: ast.AST, hops: int) -> int | None:
        """How often a program comes to some code at the most, if it does not train beside it."""
        times = 1
        for loop in self._loops.around(node):
            most, left = self._numbers.rounds(loop.node), self._counted_rounds.left_after(loop)
            known = [int(each) for each in (most.at_most, left) if each is not None]
            if not known or most.stands_in or self._training.is_in(loop):
                return None
            times *= min(known)
        function = self._tree.function(node)
        calls = self._callers.calls_of(function) if function is not None and hops else ()
        several = [self._in_all(each, hops - 1) for each in calls]
        if function is not None and (not several or None in several):
            return None
        return times * sum(filter(None, several)) if function is not None else times

    def _rows(self, call: ast.Call, given: ast.expr, way: _Rounds) -> Rows | None:
        """How many rows are predicted in each round, if that is known to be little."""
        frame: Frame | None = None
        for function, run_by in reversed(way.through):
            frame = Frame(function, run_by, frame)
        rows = self._batches.of_inputs(given) or self._batches.of_inputs(given, frame)
        if rows is Rows.BATCH and self._is_one_pass(way):
            return None
        if rows is not None or not way.changes:
            return rows
        if self._reads_of_one.of(call):
            return Rows.ONE
        functions = (function for function, _ in way.through)
        cut = makers.argument(call, 1, "batch_size") is not None  # there is more than one batch
        beside = (
            any(map(self._training.is_in, way.among))
            or any(map(self._training.is_of, functions))
            or (not cut and any(map(self._is_live, way.among)))
            or (not cut and self._is_endless(call, way))
        )
        return Rows.BATCH if beside and not self._is_large(given) else None

    def _is_live(self, loop: Loop) -> bool:
        """Whether each round is about one frame of a film: parts of it make no large batch."""
        calls = [each for each in loop.body if isinstance(each, ast.Call)]
        own = [each.func for each in calls if next(self._tree.loops(each), None) is loop.node]
        read = [each for each in own if isinstance(each, ast.Attribute) and each.attr == "read"]
        made = (end.node for each in read for end in self._sources.of(each.value).found)
        return any(self._names.call_of(each, _FILMS) for each in made)

    def _is_endless(self, call: ast.Call, way: _Rounds) -> bool:
        """Whether every round of `while True`, or `while not done`, asks the model: for what comes
        in, as it comes in."""
        loops = [each for each in way.among if self._waits_for_a_word(each)]
        runs = (call, *(run_by for _, run_by in way.through))
        return bool(loops) and not any(map(self._tree.is_conditional, runs))

    def _waits_for_a_word(self, loop: Loop) -> bool:
        """Whether a loop goes on until something outside says otherwise: `while not done`."""
        test = loop.node.test if isinstance(loop.node, ast.While) else None
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            test = test.operand
        return isinstance(test, (ast.Attribute, ast.Constant, ast.Name))

    def _is_one_pass(self, way: _Rounds) -> bool:
        """Whether loops end with the data: what a call takes is little beside a batch then."""
        return len(way.among) == 1 and self._passes_once.is_single(way.among[0])

    def _repeats(
        self, node: ast.AST, model: ast.expr | None, given: list[ast.expr], so_far: _Rounds
    ) -> Iterator[_Rounds]:
        """The ways in which loops run `node` often, each for something else or for the same."""
        inner, times, anew, changes, through, among = so_far
        for loop in self._loops.around(node):
            few, every = FEW // times, _OFTEN * times  # loops within make up for rounds left out
            if self._counted_rounds.are_few(node, loop, few, every=every):
                return
            if self._is_picked(node, loop):
                return
            if self._is_watched(loop):
                return
            if model is not None and not self._loops.unvarying(model, loop):
                model = self._taken_from(model, loop)
                if model is None:
                    return
                continue  # each of several models in turn
            if loop.over is Over.EPOCHS and not self._is_of_steps(loop):
                return
            if any(self._fits_again(each, loop) for each in loop.body):
                return
            others = anew or self._changes(given, loop)
            among = (*among, loop)
            if others or (not through and not self._takes_time(loop)):
                changes = changes or others
                rounds = self._rounds(loop)
                if inner is None or self._rounds(inner) <= FEW < rounds:
                    inner = loop
                times *= max(rounds, 1)  # a loop that is left at once is still one
            if times > FEW:
                yield _Rounds(inner, times, anew, changes, through, among)
        function = self._tree.function(node)
        if not isinstance(function, ast.FunctionDef) or len(through) == _MAX_HOPS:
            return
        if model is not None and self._is_made_in(model, function):
            return
        inherited = self._callers.calls_through_bases(function)
        fresh = anew or any(self._is_anew(each, 2) for each in given)
        outside = [each for whole in given for each in self._read_outside(whole, function)]
        for call in (*self._callers.calls_of(function), *inherited):
            if self._tree.function(call) is not function:
                passed = [call.func, *makers.given_to(call), *outside]
                outer = self._callers.argument(call, function, getattr(model, "id", ""))
                way = _Rounds(inner, times, fresh, changes, (*through, (function, call)), among)
                yield from self._repeats(call, outer, passed, way)

    def _is_made_in(self, model: ast.expr, function: FunctionNode) -> bool:
        """Whether each call of a function makes a model of its own, or loads it."""
        made = self._bindings.assigned(model) if isinstance(model, ast.Name) else None
        if not isinstance(made, ast.Call) or self._tree.function(made) is not function:
            return False
        return self._values.of(made).kind is Kind.MODEL

    def _read_outside(self, given: ast.expr, function: FunctionNode) -> Iterator[ast.expr]:
        """The names that what a function predicts has from around the function."""
        for each in ast.walk(given):
            if isinstance(each, ast.Name):
                home = self._bindings.home(each.id, each)
                if home is not None and home is not function:
                    yield each

    def _taken_from(self, model: ast.expr, loop: Loop) -> ast.expr | None:
        """What a loop goes over whose element a model is: `for model in self.models`."""
        binding = self._bindings.only(model)
        target = getattr(loop.node, "target", None)
        if binding is None or binding.how is not How.LOOPED or target is None:
            return None
        if loop.iterable is None or not self._tree.inside(binding.node, target):
            return None
        several = loop.iterable
        if isinstance(several, ast.Call) and called(several) == "enumerate" and several.args:
            several = several.args[0]
        if isinstance(several, ast.Call) and isinstance(several.func, ast.Attribute):
            several = several.func.value if several.func.attr in _ENTRIES else several
        return several if isinstance(several, (ast.Attribute, ast.Name)) else None

    def _is_anew(self, given: ast.expr, hops: int) -> bool:
        """Whether the function that predicts something gets it from a call that it makes."""
        if any(map(self._may_differ, ast.walk(given))):
            return True
        function, names = self._tree.function(given), ast.walk(given) if hops else ()
        return any(
            binding.value is not None
            and self._tree.function(binding.node) is function is not None
            and self._is_anew(binding.value, hops - 1)
            for name in names
            if isinstance(name, ast.Name)
            for binding in self._bindings.reaching(name)
        )

    def _takes_time(self, loop: Loop) -> bool:
        """Whether a clock is asked in each round, or before and after them: what is the same each
        time is done to measure it."""
        beside: list[ast.stmt] = []
        if isinstance(loop.node, ast.stmt):
            block, place = self._tree.place(loop.node)
            beside = [*block[max(place - 1, 0) : place], *block[place + 1 : place + 2]]
        around = (each for one in beside for each in ast.walk(one))
        return any(self._names.call_of(each, _TAKES_TIME) for each in (*loop.body, *around))

    def _rounds(self, loop: Loop) -> int:
        """How often a loop goes round: many times if nothing says that it does not."""
        left = self._counted_rounds.left_after(loop)
        if left is not None and left <= FEW:
            return left
        if loop.trips is not None:
            return loop.trips
        if loop.over is Over.LITERAL:
            return 1
        return FEW + 1 if loop.iterable is None else self._elements(loop.iterable)

    def _elements(self, iterable: ast.expr) -> int:
        """How many elements something is taken to have: a part to look at is no more than one."""
        length = self._numbers.length(iterable)
        there = length.value if length.at_most is None and not length.stands_in else length.at_most
        if there is not None and there <= FEW:
            return int(there)
        for each in [each.value for each in self._flow.origins(iterable) or ()] or [iterable]:
            if isinstance(each, ast.Call) and called(each) in makers.RANGES:
                return FEW + 1
            if isinstance(each, ast.Call) and (_is_next(each) or self._gives_few(each)):
                return 1
            if isinstance(each, ast.Call) and self._names.is_any(each.func, _SAMPLES):
                count = makers.argument(each, 1, "k")
                drawn = None if count is None else self._values.number(count)
                return FEW + 1 if drawn is None else int(drawn)
        few = self._iterables.is_part(iterable) or self._is_chosen_by_people(iterable)
        return 1 if few else FEW + 1

    def _gives_few(self, call: ast.Call) -> bool:
        """Whether a call lists devices, or what is seen in one picture."""
        word = call.func.attr if isinstance(call.func, ast.Attribute) else called(call)
        name = self._names.qualified(call.func) or ""
        return word in _SEES or name.startswith("tensorflow.config.")

    def _is_chosen_by_people(self, iterable: ast.expr, hops: int = 6) -> bool:
        """Whether somebody has picked what a loop goes over, or each element of a list of that."""
        if self._names.call_of(iterable, _ASKS_PEOPLE) or hops == 0:
            return hops > 0
        owner = _owner(iterable)
        if isinstance(owner, ast.Attribute):  # `uploader.value`
            return self._is_chosen_by_people(owner.value, hops - 1)
        origins = self._flow.origins(owner) or ()
        bound = self._bindings.reaching(owner) if isinstance(owner, ast.Name) else ()
        if any(each.how is How.PARAMETER and self._is_observed(each) for each in bound):
            return True
        further = [each.value for each in origins if each.value is not owner]
        starts = (each.binding for each in origins if each.binding is not None)
        growths = (growth for each in starts for growth in self._loops.growths_of(each))
        further += [
            each.loops[0].iterable for each in growths if each.loops and each.loops[0].iterable
        ]
        return any(self._is_chosen_by_people(each, hops - 1) for each in further)

    def _changes(self, given: list[ast.expr], loop: Loop) -> bool:
        """Whether what is given is not the same in every round; objects may have changed."""
        nodes = [each for whole in given for each in ast.walk(whole)]
        if any(map(self._may_differ, nodes)):
            return True
        if not all(self._loops.invariant(whole, loop) for whole in given):
            return True
        read = {each.id for each in nodes if isinstance(each, ast.Name)}
        return any(
            isinstance(each, ast.Subscript)
            and isinstance(each.ctx, ast.Store)
            and isinstance(each.value, ast.Name)
            and each.value.id in read
            for each in loop.body
        )

    def _may_differ(self, node: ast.AST) -> bool:
        """Whether code gives something else each time though it is the same: `env.state`, `f()`."""
        if not isinstance(node, (ast.Attribute, ast.Call)):
            return False
        name = self._names.qualified(node.func if isinstance(node, ast.Call) else node)
        return name is None or not name.startswith(_COMPUTES) or ".random." in name

    def _is_picked(self, node: ast.AST, loop: Loop) -> bool:
        """Whether a test picks rounds for `node` by what the loop goes over: `name == best`."""
        tests = (test for test, _ in self._tree.tests(node, loop.node))
        parts = (each for test in tests for each in ast.walk(test))
        return any(isinstance(each, ast.Compare) and self._picks(each, loop) for each in parts)

    def _picks(self, test: ast.Compare, loop: Loop) -> bool:
        named = names_in(test)
        rest = any(isinstance(each, ast.Mod) for each in ast.walk(test))  # every so many rounds
        exact = not rest and any(isinstance(each, (ast.Eq, ast.In)) for each in test.ops)
        return exact and not named.isdisjoint(loop.targets)

    def _is_watched(self, loop: Loop) -> bool:
        """Whether each round shows people something or asks them: then there are not many.

        What is shown every hundred rounds says the opposite.
        """
        every = [each for each in loop.body if isinstance(each, ast.Call)]
        calls = [each for each in every if not self._loops.is_seldom(each, loop)]
        for each in calls:
            name = self._names.qualified(each.func) or ""
            asks = called(each) == "input" and not self._is_last(each)
            if asks or name.startswith(_PLOTS):
                return True
            if _waits(each, name) and not any(self._tree.tests(each, loop.node)):
                return True
            if not name and _is_on_axes(each) and self._names.uses(_DRAWS):
                return True
        ran = self._run_by(calls)
        if self._may_show and any(map(self._shows, ran)):
            return True
        methods = (each.func for each in self._run_by(every))
        if any(isinstance(each, ast.Attribute) and each.attr in TRAINS for each in methods):
            return False
        always = [each for each in calls if not any(self._tree.tests(each, loop.node))]
        return any(self._draws(each) and self._is_always(each) for each in self._run_by(always))

    def _is_observed(self, parameter: Binding) -> bool:
        """Whether a function is told of what people pick: `uploader.observe(on_change)`."""
        function = self._tree.taker(parameter.node)
        watched = (
            (call, method.value)
            for call, method in self._tree.methods("observe")
            if call.args and self._functions.function(call.args[0]) is function
        )
        return any(self._is_chosen_by_people(each, 2) for _, each in watched)

    def _is_last(self, call: ast.Call) -> bool:
        """Whether a loop is left behind a call, as is the program by `exit()`."""
        block, _ = self._tree.place(self._tree.statement(call))
        last = block[-1]
        made = last.value if isinstance(last, ast.Expr) else None
        name = ast.unparse(made.func) if isinstance(made, ast.Call) else ""
        return isinstance(last, LEAVES) or name in _ENDS

    def _is_always(self, call: ast.Call) -> bool:
        """Whether each call of the function that makes a call comes to it."""
        around = self._tree.function(call)
        loop = next(self._tree.loops(call), around)
        return loop is None or not any(self._tree.tests(call, loop))

    def _run_by(self, calls: list[ast.Call]) -> list[ast.Call]:
        return [each for each in self._consumers.run_by(calls) if isinstance(each, ast.Call)]

    def _draws(self, call: ast.Call) -> bool:
        """Whether a call writes a picture, or has an environment draw itself: both take long."""
        if not isinstance(call.func, ast.Attribute):
            return self._names.is_any(call.func, _WRITES)
        if call.func.attr == "save":
            picture = call.func.value
            made = [picture, *(each.value for each in self._flow.origins(picture) or ())]
            by = [self._names.qualified(each.func) for each in made if isinstance(each, ast.Call)]
            return any((each or "").startswith(_IMAGES) for each in by)
        is_render = call.func.attr == "render" and not call.args
        return is_render or self._names.is_any(call.func, _WRITES)

    @cached_property
    def _may_show(self) -> bool:
        figures = (self._is_of_figure(call) for call, _ in self._tree.methods("savefig"))
        shown = any(self._names.calls(_SHOWS)) or any(map(self._displays, self._displayed))
        return shown or any(figures)

    def _shows(self, call: ast.Call) -> bool:
        shows = self._names.is_any(call.func, _SHOWS) or self._displays(call)
        return shows or self._is_of_figure(call)

    def _is_of_figure(self, call: ast.Call) -> bool:
        """Whether a figure is written to a file: `fig.savefig(path)`."""
        method = call.func
        if not isinstance(method, ast.Attribute) or method.attr != "savefig":
            return False
        bound = self._bindings.reaching(method.value) if isinstance(method.value, ast.Name) else ()
        made = [each.value for each in bound if isinstance(each.value, ast.Call)]
        names = [self._names.qualified(each.func) or "" for each in made]
        return any(each.startswith(_DRAWS) for each in names)

    @cached_property
    def _displayed(self) -> tuple[ast.Call, ...]:
        return tuple(self._tree.calls(("display",)))

    def _displays(self, call: ast.Call) -> bool:
        """Whether a notebook shows something there, by a function that every notebook has."""
        bare = call.func if called(call) == "display" else None
        return isinstance(bare, ast.Name) and not self._bindings.reaching(bare)

    def _is_of_steps(self, loop: Loop) -> bool:
        """Whether a loop over what it calls epochs trains on one batch, or a few, in each."""
        if self._training.is_in(loop):
            return True
        for each in loop.body:
            if _trains_on_batch(each):
                inner = [between for between in self._loops.around(each) if between is not loop]
                inner = [each for each in inner if self._tree.inside(each.node, loop.node)]
                return all(between.trips is not None for between in inner)
        return False

    def _fits_again(self, node: ast.AST, loop: Loop) -> bool:
        """Whether code trains on the same data in each round of a loop: rounds are epochs then."""
        call = node.func if isinstance(node, ast.Call) else None
        if not isinstance(node, ast.Call) or not isinstance(call, ast.Attribute):
            return False
        if call.attr != "fit" or not node.args or not self._loops.invariant(node.args[0], loop):
            return False
        return self._treated.may_be_model(call.value)  # scalers and encoders fit, too

    def _is_large(self, given: ast.expr) -> bool:
        shape = self._values.of(given).shape
        rows = shape[0] if shape else None
        return rows is not None and rows > LARGE


def _is_next(call: ast.Call) -> bool:
    """Whether a call takes the next element from an iterator: `next(batches)`, `it.next()`."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else None
    return called(call) == "next" or method in ("get_next", "next")


def _waits(call: ast.Call, name: str) -> bool:
    """Whether a call waits until somebody presses a key: `cv2.waitKey(0)`."""
    return name == "cv2.waitKey" and (not call.args or ast.unparse(call.args[0]) == "0")


def _is_on_axes(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr in ("add_subplot", "imshow")


def _owner(iterable: ast.expr) -> ast.expr:
    """`uploaded` for `uploaded.keys()`."""
    method = iterable.func if isinstance(iterable, ast.Call) else None
    return method.value if isinstance(method, ast.Attribute) else iterable


def _trains_on_batch(node: ast.AST) -> bool:
    method = node.func if isinstance(node, ast.Call) else None
    return isinstance(method, ast.Attribute) and method.attr == "train_on_batch"
