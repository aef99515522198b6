"""What a file says about TensorFlow: found once, on demand, for all rules.

Predicates and collections, no opinions: whether something is worth reporting is a rule's affair.
"""

from __future__ import annotations

import ast
from functools import cached_property

from tfmemlint.facts.accumulations import Accumulated, Accumulations
from tfmemlint.facts.anew import Anew, MadeAnew
from tfmemlint.facts.bindings import Binding, Bindings, How
from tfmemlint.facts.caches import Cached, Caches
from tfmemlint.facts.captures import Capture, Captures
from tfmemlint.facts.consumers import Consumers, End, Into
from tfmemlint.facts.custom_gradients import CustomGradients
from tfmemlint.facts.datasets import BATCHING, PIPELINE_WORDS, Chain, Datasets, From, Source, Step
from tfmemlint.facts.dtypes import Dtypes
from tfmemlint.facts.eager import EagerMode, EagerSwitch
from tfmemlint.facts.elements import Elements, Passage
from tfmemlint.facts.epochs import Again, Epochs
from tfmemlint.facts.escapes import Escape, Escapes
from tfmemlint.facts.factories import Factories
from tfmemlint.facts.flow import Flow, Frame, Origin
from tfmemlint.facts.functions import Functions, default
from tfmemlint.facts.generators import Generators, Held, Hoard
from tfmemlint.facts.graph_loops import GraphLoops, InGraph
from tfmemlint.facts.imports import Factory, Imported, Imports
from tfmemlint.facts.iterables import Iterables
from tfmemlint.facts.joins import Joined, Joins
from tfmemlint.facts.kinds import Extent, Kind, Value
from tfmemlint.facts.lengths import Lengths
from tfmemlint.facts.loading import Gathered, Loading
from tfmemlint.facts.loop_bodies import LoopBodies
from tfmemlint.facts.loops import Growth, Loop, Loops, Over
from tfmemlint.facts.makers import argument
from tfmemlint.facts.mapped import Mapped, Mappings
from tfmemlint.facts.names import Names
from tfmemlint.facts.ops import Ops
from tfmemlint.facts.passes import Pass, Passes
from tfmemlint.facts.processors import Processors
from tfmemlint.facts.pulls import PROGRESS, Pull, Pulls
from tfmemlint.facts.rebuilds import Rebuilds, Rebuilt
from tfmemlint.facts.remakes import Made, Remake, Remakes
from tfmemlint.facts.repeats import Repeats
from tfmemlint.facts.retraces import Handled, Retrace, Retraces
from tfmemlint.facts.sequences import Sequences
from tfmemlint.facts.symbolic import Symbolic
from tfmemlint.facts.tapes import Tape, Tapes
from tfmemlint.facts.tensors import Tensors
from tfmemlint.facts.time_steps import TimeSteps
from tfmemlint.facts.tracing import Traced, TracedBy, Tracing
from tfmemlint.facts.tree import FunctionNode, LoopNode, Tree, same_code
from tfmemlint.facts.trips import Trips
from tfmemlint.facts.unrolling import LIKES_STRAIGHT_CODE, Unrolled, Unrollings
from tfmemlint.facts.uses import Trail, Uses
from tfmemlint.facts.values import Values
from tfmemlint.facts.varying_shapes import ShapedBy, Varying, VaryingShapes
from tfmemlint.facts.wholes import Whole, Wholes

__all__ = [
    "BATCHING",
    "LIKES_STRAIGHT_CODE",
    "PIPELINE_WORDS",
    "PROGRESS",
    "Accumulated",
    "Again",
    "Anew",
    "Binding",
    "Cached",
    "Capture",
    "Chain",
    "EagerSwitch",
    "End",
    "Escape",
    "Extent",
    "Factory",
    "Frame",
    "From",
    "FunctionNode",
    "Gathered",
    "Growth",
    "Handled",
    "Held",
    "Hoard",
    "How",
    "Imported",
    "InGraph",
    "Into",
    "Joined",
    "Kind",
    "Loop",
    "LoopNode",
    "Mapped",
    "Made",
    "Origin",
    "Over",
    "Pass",
    "Pull",
    "Passage",
    "Remake",
    "Retrace",
    "Rebuilt",
    "ShapedBy",
    "Source",
    "Step",
    "Tape",
    "TensorFlow",
    "Traced",
    "TracedBy",
    "Trail",
    "Unrolled",
    "Value",
    "Varying",
    "Whole",
    "argument",
    "default",
    "same_code",
]

_TESTS = ("absl.testing", "keras.testing", "pytest", "tensorflow.test.TestCase", "unittest")


class TensorFlow:
    """The facts of one file, each subject found when it is first asked for."""

    def __init__(self, module: ast.Module, imported: Imported | None = None) -> None:
        self.tree = Tree(module)
        self.imported = imported
        """What the files that this one imports have to say; None where they are not asked."""

    @cached_property
    def bindings(self) -> Bindings:
        """Where names get their values."""
        return Bindings(self)

    @cached_property
    def names(self) -> Names:
        """What expressions refer to."""
        return Names(self)

    @cached_property
    def functions(self) -> Functions:
        """The functions of the module and their calls."""
        return Functions(self)

    @cached_property
    def imports(self) -> Imports:
        """What the files that this one imports say of themselves."""
        return Imports(self)

    @cached_property
    def factories(self) -> Factories:
        """What makes traced functions for other files."""
        return Factories(self)

    @cached_property
    def flow(self) -> Flow:
        """How values travel through assignments, arguments and attributes."""
        return Flow(self)

    @cached_property
    def datasets(self) -> Datasets:
        """The tf.data pipelines."""
        return Datasets(self)

    @cached_property
    def consumers(self) -> Consumers:
        """Where pipelines end up."""
        return Consumers(self)

    @cached_property
    def values(self) -> Values:
        """What expressions hold."""
        return Values(self)

    @cached_property
    def mappings(self) -> Mappings:
        """What the functions given to pipelines make of their elements."""
        return Mappings(self)

    @cached_property
    def elements(self) -> Elements:
        """What the elements of pipelines are."""
        return Elements(self)

    @cached_property
    def caches(self) -> Caches:
        """What caches keep of maps before them."""
        return Caches(self)

    @cached_property
    def epochs(self) -> Epochs:
        """What pipelines give each time they are read."""
        return Epochs(self)

    @cached_property
    def processors(self) -> Processors:
        """What is made of the number of processors."""
        return Processors(self)

    @cached_property
    def loops(self) -> Loops:
        """The loops, and what grows in them."""
        return Loops(self)

    @cached_property
    def tracing(self) -> Tracing:
        """Which code runs as a graph."""
        return Tracing(self)

    @cached_property
    def tapes(self) -> Tapes:
        """The gradient tapes."""
        return Tapes(self)

    @cached_property
    def tensors(self) -> Tensors:
        """Which expressions of traced code are tensors."""
        return Tensors(self)

    @cached_property
    def dtypes(self) -> Dtypes:
        """Whose dtype tensors have."""
        return Dtypes(self)

    @cached_property
    def eager_mode(self) -> EagerMode:
        """What has code run without graphs."""
        return EagerMode(self)

    @cached_property
    def graph_loops(self) -> GraphLoops:
        """What the loops of traced code are in the graph."""
        return GraphLoops(self)

    @cached_property
    def trips(self) -> Trips:
        """How often Python runs the loops of traced code."""
        return Trips(self)

    @cached_property
    def unrollings(self) -> Unrollings:
        """The loops that tracing writes out."""
        return Unrollings(self)

    @cached_property
    def accumulations(self) -> Accumulations:
        """The lists that loops of traced code fill."""
        return Accumulations(self)

    @cached_property
    def loop_bodies(self) -> LoopBodies:
        """What the bodies of loops ask of Python."""
        return LoopBodies(self)

    @cached_property
    def lengths(self) -> Lengths:
        """How many elements pipelines have."""
        return Lengths(self)

    @cached_property
    def loading(self) -> Loading:
        """The lists that hold what a loop loads from files."""
        return Loading(self, anywhere=False)

    @cached_property
    def loading_anywhere(self) -> Loading:
        """The same, in code that runs again and again, too."""
        return Loading(self, anywhere=True)

    @cached_property
    def generators(self) -> Generators:
        """What the generators of pipelines load."""
        return Generators(self)

    @cached_property
    def iterables(self) -> Iterables:
        """How much of the data loops go over."""
        return Iterables(self)

    @cached_property
    def rebuilds(self) -> Rebuilds:
        """The pipelines that loops make anew or longer."""
        return Rebuilds(self)

    @cached_property
    def repeats(self) -> Repeats:
        """Which code runs for each batch or example."""
        return Repeats(self)

    @cached_property
    def uses(self) -> Uses:
        """Where values end up."""
        return Uses(self)

    @cached_property
    def captures(self) -> Captures:
        """The arrays that graphs hold copies of."""
        return Captures(self)

    @cached_property
    def symbolic(self) -> Symbolic:
        """Which expressions are tensors only while code is traced."""
        return Symbolic(self)

    @cached_property
    def escapes(self) -> Escapes:
        """The lists that keep what was traced."""
        return Escapes(self)

    @cached_property
    def pulls(self) -> Pulls:
        """Where tracing goes over datasets."""
        return Pulls(self)

    @cached_property
    def remakes(self) -> Remakes:
        """The traced functions that are made again and again."""
        return Remakes(self)

    @cached_property
    def joins(self) -> Joins:
        """The arrays that grow by being joined to more."""
        return Joins(self)

    @cached_property
    def anew(self) -> MadeAnew:
        """The models that loops make anew and drop again."""
        return MadeAnew(self)

    @cached_property
    def custom_gradients(self) -> CustomGradients:
        """What has TensorFlow keep graphs for good."""
        return CustomGradients(self)

    @cached_property
    def time_steps(self) -> TimeSteps:
        """The lengths of sequences."""
        return TimeSteps(self)

    @cached_property
    def retraces(self) -> Retraces:
        """Where traced functions are given other numbers each time."""
        return Retraces(self)

    @cached_property
    def sequences(self) -> Sequences:
        """How long Python lists get."""
        return Sequences(self)

    @cached_property
    def varying_shapes(self) -> VaryingShapes:
        """Where traced functions are given tensors of other shapes each time."""
        return VaryingShapes(self)

    @cached_property
    def is_test(self) -> bool:
        """Whether this file tests other code: it imports what tests are written with."""
        return self.names.uses(_TESTS)

    @cached_property
    def ops(self) -> Ops:
        """Which code is made of TensorFlow operations."""
        return Ops(self)

    @cached_property
    def passes(self) -> Passes:
        """Where arrays go through models."""
        return Passes(self)

    @cached_property
    def wholes(self) -> Wholes:
        """Which arrays hold all rows."""
        return Wholes(self)
