"""What a file says about TensorFlow: found once, on demand, for all rules.

Predicates and collections, no opinions: whether something is worth reporting is a rule's affair.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from weakref import ref

from tfmemlint.light_typing import TYPE_CHECKING

if TYPE_CHECKING:  # what is named here is imported when it is first asked for
    from collections.abc import Callable, Mapping
    from typing import Any, TypeVar

    from tfmemlint.facts.flow.annotations import Annotations
    from tfmemlint.facts.flow.changing_numbers import ChangingNumbers
    from tfmemlint.facts.flow.conditions import Conditions
    from tfmemlint.facts.flow.counted_rounds import CountedRounds
    from tfmemlint.facts.flow.dtypes import Dtypes
    from tfmemlint.facts.flow.flow import Flow
    from tfmemlint.facts.flow.growths import Growths
    from tfmemlint.facts.flow.iterables import Iterables
    from tfmemlint.facts.flow.loading import Loading
    from tfmemlint.facts.flow.loops import Loops
    from tfmemlint.facts.flow.objects import Objects
    from tfmemlint.facts.flow.passes import Passes
    from tfmemlint.facts.flow.per_batch import PerBatch
    from tfmemlint.facts.flow.remade_functions import RemadeFunctions
    from tfmemlint.facts.flow.remade_models import RemadeModels
    from tfmemlint.facts.flow.solver import Solver
    from tfmemlint.facts.flow.sources import Sources
    from tfmemlint.facts.flow.stacks import Stacks
    from tfmemlint.facts.flow.steady import Steady
    from tfmemlint.facts.flow.stores import Stores
    from tfmemlint.facts.flow.unchanged import Unchanged
    from tfmemlint.facts.flow.uses import Uses
    from tfmemlint.facts.flow.values import Values
    from tfmemlint.facts.flow.wholes import Wholes
    from tfmemlint.facts.graphs.captures import Captures
    from tfmemlint.facts.graphs.factories import Factories
    from tfmemlint.facts.graphs.graph_loops import GraphLoops
    from tfmemlint.facts.graphs.loop_bodies import LoopBodies
    from tfmemlint.facts.graphs.pulls import Pulls
    from tfmemlint.facts.graphs.retraces import Retraces
    from tfmemlint.facts.graphs.switches import Switches
    from tfmemlint.facts.graphs.tapes import Tapes
    from tfmemlint.facts.graphs.tensors import Tensors
    from tfmemlint.facts.graphs.time_steps import TimeSteps
    from tfmemlint.facts.graphs.traced_rounds import TracedRounds
    from tfmemlint.facts.graphs.tracing import Tracing
    from tfmemlint.facts.graphs.unrolling import Unrollings
    from tfmemlint.facts.graphs.wrappings import Wrappings
    from tfmemlint.facts.pipelines.buffers import Buffers
    from tfmemlint.facts.pipelines.consumers import Consumers
    from tfmemlint.facts.pipelines.datasets import Datasets
    from tfmemlint.facts.pipelines.elements import Elements
    from tfmemlint.facts.pipelines.epochs import Epochs
    from tfmemlint.facts.pipelines.further import Further
    from tfmemlint.facts.pipelines.lengths import Lengths
    from tfmemlint.facts.pipelines.mapped import Mappings
    from tfmemlint.facts.pipelines.neighbours import Neighbours
    from tfmemlint.facts.pipelines.read_batches import ReadBatches
    from tfmemlint.facts.sizes.arrays import Arrays
    from tfmemlint.facts.sizes.models import Models
    from tfmemlint.facts.sizes.numbers import Numbers
    from tfmemlint.facts.sizes.plans import Plans
    from tfmemlint.facts.sizes.streams import Streams
    from tfmemlint.facts.sure.code import Code
    from tfmemlint.facts.sure.constants import Constants
    from tfmemlint.facts.sure.openness import Openness
    from tfmemlint.facts.sure.pipelines import Pipelines
    from tfmemlint.facts.sure.traced import Traced
    from tfmemlint.facts.syntax.bindings import Bindings
    from tfmemlint.facts.syntax.bodies import Bodies
    from tfmemlint.facts.syntax.callers import Callers
    from tfmemlint.facts.syntax.classes import Classes
    from tfmemlint.facts.syntax.functions import Functions
    from tfmemlint.facts.syntax.imports import Imports, Others
    from tfmemlint.facts.syntax.members import Members
    from tfmemlint.facts.syntax.names import Names
    from tfmemlint.facts.syntax.tracers import Tracers
    from tfmemlint.facts.syntax.tree import Tree

    A = TypeVar("A")

_TESTS = ("absl.testing", "keras.testing", "pytest", "tensorflow.test.TestCase", "unittest")


class _Named:
    """A fact with a name of its own, found when it is first asked for."""

    def __init__(self, module: str, kind: str, options: dict[str, bool]) -> None:
        self._module, self._kind, self._options = module, kind, options

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, tf: TensorFlow, owner: type) -> object:
        kind = getattr(import_module(f"{__name__}.{self._module}"), self._kind)
        found = tf.__dict__[self._name] = (
            kind(tf, **self._options) if self._options else tf.of(kind)
        )
        return found


def _named(module: str, kind: str, **options: bool) -> Any:
    return _Named(module, kind, options)


class TensorFlow:
    """The facts of one file, each subject found when it is first asked for."""

    def __init__(
        self,
        tree: Tree,
        others: Others | None = None,
        assumed: Mapping[str, float] | None = None,
    ) -> None:
        self.tree = tree
        self.others = others
        """The other files of the project; None where they are not to be looked at."""
        self.assumed: Mapping[str, float] = assumed or {}
        """What is taken for granted of numbers that the code does not tell, by their text."""
        tree.forest.facts[tree.module] = ref(self)
        self._analyses: dict[Callable[[TensorFlow], object], Any] = {}

    def of(self, analysis: Callable[[TensorFlow], A]) -> A:
        """What an analysis, of the facts or of a rule's own, says of this file: asked once."""
        if analysis not in self._analyses:
            self._analyses[analysis] = analysis(self)
        found: A = self._analyses[analysis]
        return found

    bindings: Bindings = _named("syntax.bindings", "Bindings")
    """Where names get their values."""
    names: Names = _named("syntax.names", "Names")
    """What expressions refer to."""
    functions: Functions = _named("syntax.functions", "Functions")
    """Which definitions expressions mean."""
    bodies: Bodies = _named("syntax.bodies", "Bodies")
    """What functions take, run and give back."""
    callers: Callers = _named("syntax.callers", "Callers")
    """Who calls functions, and with what."""
    members: Members = _named("syntax.members", "Members")
    """What classes hold."""
    classes: Classes = _named("syntax.classes", "Classes")
    """What kinds of classes there are."""
    tracers: Tracers = _named("syntax.tracers", "Tracers")
    """What makes traced functions of others."""
    imports: Imports = _named("syntax.imports", "Imports")
    """What is imported from other files of the project."""
    factories: Factories = _named("graphs.factories", "Factories")
    """What makes traced functions for other files."""
    solver: Solver = _named("flow.solver", "Solver")
    """The answers to questions about values."""
    stores: Stores = _named("flow.stores", "Stores")
    """What is put into containers and objects."""
    sources: Sources = _named("flow.sources", "Sources")
    """Where values come from."""
    flow: Flow = _named("flow.flow", "Flow")
    """How values travel through assignments, arguments and attributes."""
    conditions: Conditions = _named("flow.conditions", "Conditions")
    """What the tests of `if` come to."""
    annotations: Annotations = _named("flow.annotations", "Annotations")
    """What code says values are."""
    objects: Objects = _named("flow.objects", "Objects")
    """Which expressions hold the same object."""
    datasets: Datasets = _named("pipelines.datasets", "Datasets")
    """The tf.data pipelines."""
    neighbours: Neighbours = _named("pipelines.neighbours", "Neighbours")
    """Which of their steps stand next to each other."""
    further: Further = _named("pipelines.further", "Further")
    """What becomes of them further on."""
    consumers: Consumers = _named("pipelines.consumers", "Consumers")
    """Where pipelines end up."""
    values: Values = _named("flow.values", "Values")
    """What expressions hold."""
    mappings: Mappings = _named("pipelines.mapped", "Mappings")
    """What the functions given to pipelines make of their elements."""
    elements: Elements = _named("pipelines.elements", "Elements")
    """What the elements of pipelines are."""
    buffers: Buffers = _named("pipelines.buffers", "Buffers")
    """The caches and shuffles that would hold less before a map."""
    epochs: Epochs = _named("pipelines.epochs", "Epochs")
    """What pipelines give each time they are read."""
    loops: Loops = _named("flow.loops", "Loops")
    """The loops, and what grows in them."""
    growths: Growths = _named("flow.growths", "Growths")
    """The lists that grow, wherever they are kept."""
    tracing: Tracing = _named("graphs.tracing", "Tracing")
    """Which code runs as a graph."""
    switches: Switches = _named("graphs.switches", "Switches")
    """What is set for the whole program."""
    tapes: Tapes = _named("graphs.tapes", "Tapes")
    """The gradient tapes."""
    tensors: Tensors = _named("graphs.tensors", "Tensors")
    """Which expressions of traced code are tensors."""
    dtypes: Dtypes = _named("flow.dtypes", "Dtypes")
    """Whose dtype tensors have."""
    graph_loops: GraphLoops = _named("graphs.graph_loops", "GraphLoops")
    """What the loops of traced code are in the graph."""
    traced_rounds: TracedRounds = _named("graphs.traced_rounds", "TracedRounds")
    """How often Python runs the loops of traced code."""
    unrollings: Unrollings = _named("graphs.unrolling", "Unrollings")
    """The loops that tracing writes out."""
    loop_bodies: LoopBodies = _named("graphs.loop_bodies", "LoopBodies")
    """What the bodies of loops ask of Python."""
    read_batches: ReadBatches = _named("pipelines.read_batches", "ReadBatches")
    """The batches that readers give by themselves."""
    lengths: Lengths = _named("pipelines.lengths", "Lengths")
    """How many elements pipelines have."""
    loading: Loading = _named("flow.loading", "Loading", anywhere=False)
    """The lists that hold what a loop loads from files."""
    loading_anywhere: Loading = _named("flow.loading", "Loading", anywhere=True)
    """The same, in code that runs again and again, too."""
    parsing: Loading = _named("flow.loading", "Loading", anywhere=False, rows=True)
    """The lists that hold an image parsed from each row of a text."""
    iterables: Iterables = _named("flow.iterables", "Iterables")
    """How much of the data loops go over."""
    per_batch: PerBatch = _named("flow.per_batch", "PerBatch")
    """Which code runs for each batch or example."""
    uses: Uses = _named("flow.uses", "Uses")
    """Where values end up."""
    captures: Captures = _named("graphs.captures", "Captures")
    """The arrays that graphs hold copies of."""
    unchanged: Unchanged = _named("flow.unchanged", "Unchanged")
    """Which arrays stay as they are."""
    counted_rounds: CountedRounds = _named("flow.counted_rounds", "CountedRounds")
    """How many rounds loops make by what they count."""
    pulls: Pulls = _named("graphs.pulls", "Pulls")
    """Where tracing goes over datasets."""
    wrappings: Wrappings = _named("graphs.wrappings", "Wrappings")
    """The traced functions as code makes them."""
    steady: Steady = _named("flow.steady", "Steady")
    """Which code does the same whenever it is traced."""
    remade_functions: RemadeFunctions = _named("flow.remade_functions", "RemadeFunctions")
    """The traced functions that are made again and again."""
    remade_models: RemadeModels = _named("flow.remade_models", "RemadeModels")
    """The models that loops make anew and drop again."""
    time_steps: TimeSteps = _named("graphs.time_steps", "TimeSteps")
    """The lengths of sequences."""
    retraces: Retraces = _named("graphs.retraces", "Retraces")
    """Where traced functions are given other numbers each time."""
    changing_numbers: ChangingNumbers = _named("flow.changing_numbers", "ChangingNumbers")
    """What gives numbers another value each time."""
    passes: Passes = _named("flow.passes", "Passes")
    """Where arrays go through models."""
    wholes: Wholes = _named("flow.wholes", "Wholes")
    """Which arrays hold all rows."""
    stacks: Stacks = _named("flow.stacks", "Stacks")
    """Where arrays are made of lists."""

    numbers: Numbers = _named("sizes.numbers", "Numbers")
    """How much numbers and lengths are, and how sure that is."""
    arrays: Arrays = _named("sizes.arrays", "Arrays")
    """How many bytes arrays, tensors and lists of them hold."""
    models: Models = _named("sizes.models", "Models")
    """What models hold."""
    plans: Plans = _named("sizes.plans", "Plans")
    """What the program holds at its largest step."""
    streams: Streams = _named("sizes.streams", "Streams")
    """How many bytes pipelines hold."""
    openness: Openness = _named("sure.openness", "Openness")
    """Whether the file looks at itself."""
    constants: Constants = _named("sure.constants", "Constants")
    """What never changes."""
    code: Code = _named("sure.code", "Code")
    """The functions that surely compute, and nothing else."""
    sure_traced: Traced = _named("sure.traced", "Traced")
    """The traced functions that are called, and nothing else."""
    sure_pipelines: Pipelines = _named("sure.pipelines", "Pipelines")
    """The pipelines that surely give the same whenever they are read."""

    @cached_property
    def is_test(self) -> bool:
        """Whether this file tests other code: it imports what tests are written with."""
        return self.names.uses(_TESTS)

    @cached_property
    def is_for_keras_1(self) -> bool:
        """Whether this file is written for Keras 1, which later versions do not run."""
        from tfmemlint.facts.library.keras_versions import is_for_keras_1  # noqa: PLC0415

        return is_for_keras_1(self)

    @cached_property
    def is_for_session_keras(self) -> bool:
        """Whether this file is written for a Keras before 2.4, which was not TensorFlow's."""
        from tfmemlint.facts.library.keras_versions import is_for_session_keras  # noqa: PLC0415

        return is_for_session_keras(self)

    @cached_property
    def is_for_keras_3(self) -> bool:
        """Whether this file needs Keras 3, which earlier versions of TensorFlow do not have."""
        from tfmemlint.facts.library.keras_versions import is_for_keras_3  # noqa: PLC0415

        return is_for_keras_3(self)
