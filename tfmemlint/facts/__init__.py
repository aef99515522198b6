"""What a file says about TensorFlow: found once, on demand, for all rules.

Predicates and collections, no opinions: whether something is worth reporting is a rule's affair.
"""

from __future__ import annotations

from functools import cached_property

TYPE_CHECKING = False  # what is named here is imported when it is first asked for
if TYPE_CHECKING:
    import ast

    from tfmemlint.facts.accumulations import Accumulations
    from tfmemlint.facts.anew import MadeAnew
    from tfmemlint.facts.batches import Batches
    from tfmemlint.facts.bindings import Bindings
    from tfmemlint.facts.caches import Caches
    from tfmemlint.facts.captures import Captures
    from tfmemlint.facts.changing_numbers import ChangingNumbers
    from tfmemlint.facts.consumers import Consumers
    from tfmemlint.facts.counters import Counters
    from tfmemlint.facts.custom_gradients import CustomGradients
    from tfmemlint.facts.datasets import Datasets
    from tfmemlint.facts.dtypes import Dtypes
    from tfmemlint.facts.eager import EagerMode
    from tfmemlint.facts.elements import Elements
    from tfmemlint.facts.epochs import Epochs
    from tfmemlint.facts.escapes import Escapes
    from tfmemlint.facts.examples import Examples
    from tfmemlint.facts.factories import Factories
    from tfmemlint.facts.fillings import Fillings
    from tfmemlint.facts.flow import Flow
    from tfmemlint.facts.full_batches import FullBatches
    from tfmemlint.facts.functions import Functions
    from tfmemlint.facts.generators import Generators
    from tfmemlint.facts.graph_loops import GraphLoops
    from tfmemlint.facts.handling import Handling
    from tfmemlint.facts.imports import Imported, Imports
    from tfmemlint.facts.iterables import Iterables
    from tfmemlint.facts.joins import Joins
    from tfmemlint.facts.joins_as_lists import JoinsAsLists
    from tfmemlint.facts.kept import KeptTensors
    from tfmemlint.facts.late_loading import LateLoading
    from tfmemlint.facts.lengths import Lengths
    from tfmemlint.facts.loading import Loading
    from tfmemlint.facts.loop_bodies import LoopBodies
    from tfmemlint.facts.loops import Loops
    from tfmemlint.facts.mapped import Mappings
    from tfmemlint.facts.names import Names
    from tfmemlint.facts.novelty import Novelty
    from tfmemlint.facts.ops import Ops
    from tfmemlint.facts.paddings import Paddings
    from tfmemlint.facts.passes import Passes
    from tfmemlint.facts.predictions import Predictions
    from tfmemlint.facts.processors import Processors
    from tfmemlint.facts.pulls import Pulls
    from tfmemlint.facts.py_functions import PyFunctions
    from tfmemlint.facts.rebuilds import Rebuilds
    from tfmemlint.facts.remakes import Remakes
    from tfmemlint.facts.repeats import Repeats
    from tfmemlint.facts.retraces import Retraces
    from tfmemlint.facts.rounds import Rounds
    from tfmemlint.facts.same_graphs import SameGraphs
    from tfmemlint.facts.sequences import Sequences
    from tfmemlint.facts.sliceable import Sliceable
    from tfmemlint.facts.stacks import Stacks
    from tfmemlint.facts.steady import Steady
    from tfmemlint.facts.switches import Switches
    from tfmemlint.facts.symbolic import Symbolic
    from tfmemlint.facts.takers import Takers
    from tfmemlint.facts.tapes import Tapes
    from tfmemlint.facts.tensor_arrays import TensorArrays
    from tfmemlint.facts.tensors import Tensors
    from tfmemlint.facts.time_steps import TimeSteps
    from tfmemlint.facts.tracing import Tracing
    from tfmemlint.facts.trips import Trips
    from tfmemlint.facts.unchanged import Unchanged
    from tfmemlint.facts.unrolling import Unrollings
    from tfmemlint.facts.uses import Uses
    from tfmemlint.facts.values import Values
    from tfmemlint.facts.varying_shapes import VaryingShapes
    from tfmemlint.facts.wholes import Wholes
    from tfmemlint.facts.windows import WindowLists
    from tfmemlint.facts.wrappings import Wrappings

_TESTS = ("absl.testing", "keras.testing", "pytest", "tensorflow.test.TestCase", "unittest")


class TensorFlow:
    """The facts of one file, each subject found when it is first asked for."""

    def __init__(self, module: ast.Module, imported: Imported | None = None) -> None:
        from tfmemlint.facts.tree import Tree  # noqa: PLC0415

        self.tree = Tree(module)
        self.imported = imported
        """What the files that this one imports have to say; None where they are not asked."""

    @cached_property
    def bindings(self) -> Bindings:
        """Where names get their values."""
        from tfmemlint.facts.bindings import Bindings  # noqa: PLC0415

        return Bindings(self)

    @cached_property
    def names(self) -> Names:
        """What expressions refer to."""
        from tfmemlint.facts.names import Names  # noqa: PLC0415

        return Names(self)

    @cached_property
    def functions(self) -> Functions:
        """The functions of the module and their calls."""
        from tfmemlint.facts.functions import Functions  # noqa: PLC0415

        return Functions(self)

    @cached_property
    def imports(self) -> Imports:
        """What the files that this one imports say of themselves."""
        from tfmemlint.facts.imports import Imports  # noqa: PLC0415

        return Imports(self)

    @cached_property
    def factories(self) -> Factories:
        """What makes traced functions for other files."""
        from tfmemlint.facts.factories import Factories  # noqa: PLC0415

        return Factories(self)

    @cached_property
    def flow(self) -> Flow:
        """How values travel through assignments, arguments and attributes."""
        from tfmemlint.facts.flow import Flow  # noqa: PLC0415

        return Flow(self)

    @cached_property
    def datasets(self) -> Datasets:
        """The tf.data pipelines."""
        from tfmemlint.facts.datasets import Datasets  # noqa: PLC0415

        return Datasets(self)

    @cached_property
    def consumers(self) -> Consumers:
        """Where pipelines end up."""
        from tfmemlint.facts.consumers import Consumers  # noqa: PLC0415

        return Consumers(self)

    @cached_property
    def examples(self) -> Examples:
        """Which pipelines give one example at a time."""
        from tfmemlint.facts.examples import Examples  # noqa: PLC0415

        return Examples(self)

    @cached_property
    def values(self) -> Values:
        """What expressions hold."""
        from tfmemlint.facts.values import Values  # noqa: PLC0415

        return Values(self)

    @cached_property
    def mappings(self) -> Mappings:
        """What the functions given to pipelines make of their elements."""
        from tfmemlint.facts.mapped import Mappings  # noqa: PLC0415

        return Mappings(self)

    @cached_property
    def elements(self) -> Elements:
        """What the elements of pipelines are."""
        from tfmemlint.facts.elements import Elements  # noqa: PLC0415

        return Elements(self)

    @cached_property
    def caches(self) -> Caches:
        """What caches keep of maps before them."""
        from tfmemlint.facts.caches import Caches  # noqa: PLC0415

        return Caches(self)

    @cached_property
    def epochs(self) -> Epochs:
        """What pipelines give each time they are read."""
        from tfmemlint.facts.epochs import Epochs  # noqa: PLC0415

        return Epochs(self)

    @cached_property
    def processors(self) -> Processors:
        """What is made of the number of processors."""
        from tfmemlint.facts.processors import Processors  # noqa: PLC0415

        return Processors(self)

    @cached_property
    def loops(self) -> Loops:
        """The loops, and what grows in them."""
        from tfmemlint.facts.loops import Loops  # noqa: PLC0415

        return Loops(self)

    @cached_property
    def tracing(self) -> Tracing:
        """Which code runs as a graph."""
        from tfmemlint.facts.tracing import Tracing  # noqa: PLC0415

        return Tracing(self)

    @cached_property
    def switches(self) -> Switches:
        """What is set for the whole program."""
        from tfmemlint.facts.switches import Switches  # noqa: PLC0415

        return Switches(self)

    @cached_property
    def tapes(self) -> Tapes:
        """The gradient tapes."""
        from tfmemlint.facts.tapes import Tapes  # noqa: PLC0415

        return Tapes(self)

    @cached_property
    def py_functions(self) -> PyFunctions:
        """The Python that tapes record."""
        from tfmemlint.facts.py_functions import PyFunctions  # noqa: PLC0415

        return PyFunctions(self)

    @cached_property
    def tensors(self) -> Tensors:
        """Which expressions of traced code are tensors."""
        from tfmemlint.facts.tensors import Tensors  # noqa: PLC0415

        return Tensors(self)

    @cached_property
    def dtypes(self) -> Dtypes:
        """Whose dtype tensors have."""
        from tfmemlint.facts.dtypes import Dtypes  # noqa: PLC0415

        return Dtypes(self)

    @cached_property
    def eager_mode(self) -> EagerMode:
        """What has code run without graphs."""
        from tfmemlint.facts.eager import EagerMode  # noqa: PLC0415

        return EagerMode(self)

    @cached_property
    def graph_loops(self) -> GraphLoops:
        """What the loops of traced code are in the graph."""
        from tfmemlint.facts.graph_loops import GraphLoops  # noqa: PLC0415

        return GraphLoops(self)

    @cached_property
    def trips(self) -> Trips:
        """How often Python runs the loops of traced code."""
        from tfmemlint.facts.trips import Trips  # noqa: PLC0415

        return Trips(self)

    @cached_property
    def unrollings(self) -> Unrollings:
        """The loops that tracing writes out."""
        from tfmemlint.facts.unrolling import Unrollings  # noqa: PLC0415

        return Unrollings(self)

    @cached_property
    def accumulations(self) -> Accumulations:
        """The lists that loops of traced code fill."""
        from tfmemlint.facts.accumulations import Accumulations  # noqa: PLC0415

        return Accumulations(self)

    @cached_property
    def tensor_arrays(self) -> TensorArrays:
        """What could take the place of such lists."""
        from tfmemlint.facts.tensor_arrays import TensorArrays  # noqa: PLC0415

        return TensorArrays(self)

    @cached_property
    def loop_bodies(self) -> LoopBodies:
        """What the bodies of loops ask of Python."""
        from tfmemlint.facts.loop_bodies import LoopBodies  # noqa: PLC0415

        return LoopBodies(self)

    @cached_property
    def lengths(self) -> Lengths:
        """How many elements pipelines have."""
        from tfmemlint.facts.lengths import Lengths  # noqa: PLC0415

        return Lengths(self)

    @cached_property
    def loading(self) -> Loading:
        """The lists that hold what a loop loads from files."""
        from tfmemlint.facts.loading import Loading  # noqa: PLC0415

        return Loading(self, anywhere=False)

    @cached_property
    def loading_anywhere(self) -> Loading:
        """The same, in code that runs again and again, too."""
        from tfmemlint.facts.loading import Loading  # noqa: PLC0415

        return Loading(self, anywhere=True)

    @cached_property
    def parsing(self) -> Loading:
        """The lists that hold an image parsed from each row of a text."""
        from tfmemlint.facts.loading import Loading  # noqa: PLC0415

        return Loading(self, anywhere=False, rows=True)

    @cached_property
    def generators(self) -> Generators:
        """What the generators of pipelines load."""
        from tfmemlint.facts.generators import Generators  # noqa: PLC0415

        return Generators(self)

    @cached_property
    def late_loading(self) -> LateLoading:
        """What generators could as well load as they go."""
        from tfmemlint.facts.late_loading import LateLoading  # noqa: PLC0415

        return LateLoading(self)

    @cached_property
    def iterables(self) -> Iterables:
        """How much of the data loops go over."""
        from tfmemlint.facts.iterables import Iterables  # noqa: PLC0415

        return Iterables(self)

    @cached_property
    def rebuilds(self) -> Rebuilds:
        """The pipelines that loops make anew or longer."""
        from tfmemlint.facts.rebuilds import Rebuilds  # noqa: PLC0415

        return Rebuilds(self)

    @cached_property
    def repeats(self) -> Repeats:
        """Which code runs for each batch or example."""
        from tfmemlint.facts.repeats import Repeats  # noqa: PLC0415

        return Repeats(self)

    @cached_property
    def uses(self) -> Uses:
        """Where values end up."""
        from tfmemlint.facts.uses import Uses  # noqa: PLC0415

        return Uses(self)

    @cached_property
    def captures(self) -> Captures:
        """The arrays that graphs hold copies of."""
        from tfmemlint.facts.captures import Captures  # noqa: PLC0415

        return Captures(self)

    @cached_property
    def unchanged(self) -> Unchanged:
        """Which arrays stay as they are."""
        from tfmemlint.facts.unchanged import Unchanged  # noqa: PLC0415

        return Unchanged(self)

    @cached_property
    def symbolic(self) -> Symbolic:
        """Which expressions are tensors only while code is traced."""
        from tfmemlint.facts.symbolic import Symbolic  # noqa: PLC0415

        return Symbolic(self)

    @cached_property
    def escapes(self) -> Escapes:
        """The lists that keep what was traced."""
        from tfmemlint.facts.escapes import Escapes  # noqa: PLC0415

        return Escapes(self)

    @cached_property
    def counters(self) -> Counters:
        """How many rounds loops make by what they count."""
        from tfmemlint.facts.counters import Counters  # noqa: PLC0415

        return Counters(self)

    @cached_property
    def kept(self) -> KeptTensors:
        """The lists that keep tensors of eager loops."""
        from tfmemlint.facts.kept import KeptTensors  # noqa: PLC0415

        return KeptTensors(self)

    @cached_property
    def pulls(self) -> Pulls:
        """Where tracing goes over datasets."""
        from tfmemlint.facts.pulls import Pulls  # noqa: PLC0415

        return Pulls(self)

    @cached_property
    def wrappings(self) -> Wrappings:
        """The traced functions as code makes them."""
        from tfmemlint.facts.wrappings import Wrappings  # noqa: PLC0415

        return Wrappings(self)

    @cached_property
    def same_graphs(self) -> SameGraphs:
        """Which traced functions are the same wherever they are made."""
        from tfmemlint.facts.same_graphs import SameGraphs  # noqa: PLC0415

        return SameGraphs(self)

    @cached_property
    def steady(self) -> Steady:
        """Which code does the same whenever it is traced."""
        from tfmemlint.facts.steady import Steady  # noqa: PLC0415

        return Steady(self)

    @cached_property
    def remakes(self) -> Remakes:
        """The traced functions that are made again and again."""
        from tfmemlint.facts.remakes import Remakes  # noqa: PLC0415

        return Remakes(self)

    @cached_property
    def joins(self) -> Joins:
        """The arrays that grow by being joined to more."""
        from tfmemlint.facts.joins import Joins  # noqa: PLC0415

        return Joins(self)

    @cached_property
    def joins_as_lists(self) -> JoinsAsLists:
        """Whether lists could take the place of such arrays."""
        from tfmemlint.facts.joins_as_lists import JoinsAsLists  # noqa: PLC0415

        return JoinsAsLists(self)

    @cached_property
    def rounds(self) -> Rounds:
        """How often such arrays are joined to more."""
        from tfmemlint.facts.rounds import Rounds  # noqa: PLC0415

        return Rounds(self)

    @cached_property
    def anew(self) -> MadeAnew:
        """The models that loops make anew and drop again."""
        from tfmemlint.facts.anew import MadeAnew  # noqa: PLC0415

        return MadeAnew(self)

    @cached_property
    def custom_gradients(self) -> CustomGradients:
        """What has TensorFlow keep graphs for good."""
        from tfmemlint.facts.custom_gradients import CustomGradients  # noqa: PLC0415

        return CustomGradients(self)

    @cached_property
    def time_steps(self) -> TimeSteps:
        """The lengths of sequences."""
        from tfmemlint.facts.time_steps import TimeSteps  # noqa: PLC0415

        return TimeSteps(self)

    @cached_property
    def retraces(self) -> Retraces:
        """Where traced functions are given other numbers each time."""
        from tfmemlint.facts.retraces import Retraces  # noqa: PLC0415

        return Retraces(self)

    @cached_property
    def sequences(self) -> Sequences:
        """How long Python lists get."""
        from tfmemlint.facts.sequences import Sequences  # noqa: PLC0415

        return Sequences(self)

    @cached_property
    def changing_numbers(self) -> ChangingNumbers:
        """What gives numbers another value each time."""
        from tfmemlint.facts.changing_numbers import ChangingNumbers  # noqa: PLC0415

        return ChangingNumbers(self)

    @cached_property
    def handling(self) -> Handling:
        """What functions do with the numbers they are given."""
        from tfmemlint.facts.handling import Handling  # noqa: PLC0415

        return Handling(self)

    @cached_property
    def novelty(self) -> Novelty:
        """What rounds and requests have code see for the first time."""
        from tfmemlint.facts.novelty import Novelty  # noqa: PLC0415

        return Novelty(self)

    @cached_property
    def paddings(self) -> Paddings:
        """Which batches are as long as the longest of their examples."""
        from tfmemlint.facts.paddings import Paddings  # noqa: PLC0415

        return Paddings(self)

    @cached_property
    def varying_shapes(self) -> VaryingShapes:
        """Where traced functions are given tensors of other shapes each time."""
        from tfmemlint.facts.varying_shapes import VaryingShapes  # noqa: PLC0415

        return VaryingShapes(self)

    @cached_property
    def is_test(self) -> bool:
        """Whether this file tests other code: it imports what tests are written with."""
        return self.names.uses(_TESTS)

    @cached_property
    def is_for_keras_1(self) -> bool:
        """Whether this file is written for Keras 1, which later versions do not run."""
        from tfmemlint.facts.keras_1 import is_for_keras_1  # noqa: PLC0415

        return is_for_keras_1(self)

    @cached_property
    def ops(self) -> Ops:
        """Which code is made of TensorFlow operations."""
        from tfmemlint.facts.ops import Ops  # noqa: PLC0415

        return Ops(self)

    @cached_property
    def passes(self) -> Passes:
        """Where arrays go through models."""
        from tfmemlint.facts.passes import Passes  # noqa: PLC0415

        return Passes(self)

    @cached_property
    def wholes(self) -> Wholes:
        """Which arrays hold all rows."""
        from tfmemlint.facts.wholes import Wholes  # noqa: PLC0415

        return Wholes(self)

    @cached_property
    def stacks(self) -> Stacks:
        """Where arrays are made of lists."""
        from tfmemlint.facts.stacks import Stacks  # noqa: PLC0415

        return Stacks(self)

    @cached_property
    def fillings(self) -> Fillings:
        """How lists are filled that `map` could make."""
        from tfmemlint.facts.fillings import Fillings  # noqa: PLC0415

        return Fillings(self)

    @cached_property
    def takers(self) -> Takers:
        """What takes the rows of arrays."""
        from tfmemlint.facts.takers import Takers  # noqa: PLC0415

        return Takers(self)

    @cached_property
    def batches(self) -> Batches:
        """Which arrays have but a few rows."""
        from tfmemlint.facts.batches import Batches  # noqa: PLC0415

        return Batches(self)

    @cached_property
    def predictions(self) -> Predictions:
        """What models are asked to predict in loops."""
        from tfmemlint.facts.predictions import Predictions  # noqa: PLC0415

        return Predictions(self)

    @cached_property
    def full_batches(self) -> FullBatches:
        """Whole arrays that go through models at once."""
        from tfmemlint.facts.full_batches import FullBatches  # noqa: PLC0415

        return FullBatches(self)

    @cached_property
    def sliceable(self) -> Sliceable:
        """Which calls could be made for slices of their arrays."""
        from tfmemlint.facts.sliceable import Sliceable  # noqa: PLC0415

        return Sliceable(self)

    @cached_property
    def windows(self) -> WindowLists:
        """The lists of windows of a series."""
        from tfmemlint.facts.windows import WindowLists  # noqa: PLC0415

        return WindowLists(self)
