"""What environments show: those of games and cars give pictures, those of poles a few numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tfmemlint.facts import TensorFlow
from tfmemlint.facts.flow.frames import Frame
from tfmemlint.facts.library.makers import argument
from tfmemlint.facts.syntax.arithmetic import as_count
from tfmemlint.facts.syntax.nodes import is_literal
from tfmemlint.facts.syntax.tree import FunctionNode
from tfmemlint.light_typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tfmemlint.facts.flow.paths import Path

_MOST_WRAPPERS = 8

_GAMES = re.compile(
    r"ALE/|(Assault|Asterix|BankHeist|BeamRider|Berzerk|Bowling|Boxing|Breakout|Enduro|Freeway|Frostbite"
    r"|Kangaroo|MontezumaRevenge|MsPacman|Pitfall|Pong|PrivateEye|Qbert|Riverraid|RoadRunner|Seaquest"
    r"|SpaceInvaders|Tennis|Venture)(Deterministic|NoFrameskip)?-v|\w+(Deterministic|NoFrameskip)-v"
)
_SCREEN, _ROAD, _MARIO = (210, 160, 3), (96, 96, 3), (240, 256, 3)
_MAKES = frozenset({"gym.make", "gymnasium.make"})
_BY_GAME = {"gym_super_mario_bros.make": _MARIO, "retro.make": None}
_VECTORS = re.compile(
    r"(Acrobot|BipedalWalker|CartPole|CliffWalking|FrozenLake|LunarLander|MountainCar|Pendulum|Taxi)"
)
_SIDE = 84


class Seen(NamedTuple):
    """What one environment shows."""

    is_picture: bool = False
    is_vector: bool = False
    dtype: str | None = None
    dims: tuple[int | None, ...] | None = None
    frames: int | None = 1
    """How many of the last pictures it shows at once."""
    through: FunctionNode | None = None
    """The method of a wrapper that gives back what is to be shown."""


class Shown:
    """What environments are, by how they are made."""

    def __init__(self, tf: TensorFlow) -> None:
        self._names = tf.names
        self._functions = tf.functions
        self._sources = tf.sources
        self._values = tf.values

    def is_asked(self, method: ast.Attribute, path: Path) -> bool:
        """Whether this reads what `step`, `reset` or `render` of an environment shows."""
        first = path == ((0,),)
        if method.attr == "step":
            return first
        return method.attr in ("render", "reset") and (first or not path)

    def by(self, environment: ast.expr, frame: Frame | None) -> Iterator[Seen]:
        """What an environment may show; nothing where it is not known how it is made."""
        yield from self._by(environment, frame, _MOST_WRAPPERS)

    def _by(self, environment: ast.expr, frame: Frame | None, hops: int) -> Iterator[Seen]:
        for end in self._sources.of(environment, frame).found if hops else ():
            made = end.node
            if end.path or not isinstance(made, ast.Call):
                continue
            name = self._names.qualified(made.func) or ""
            given = made.args[0] if made.args else argument(made, None, "env")
            if name in _MAKES:
                yield self._named(made, end.frame)
            elif name in _BY_GAME:
                yield Seen(is_picture=True, dtype="uint8", dims=_BY_GAME[name])
            elif name.startswith(("gym.wrappers.", "gymnasium.wrappers.")) and given is not None:
                for inner in self._by(given, end.frame, hops - 1):
                    yield self._wrapped(name.rpartition(".")[2], made, inner)
            else:
                yield from self._of_class(made, given, end.frame, hops)

    def _named(self, made: ast.Call, frame: Frame | None) -> Seen:
        """One that is made by its name: `gym.make("ALE/Pong-v5")`."""
        first = argument(made, 0, "id")
        constant = self._sources.constant(first, frame) if first is not None else None
        name = constant.value if constant is not None else None
        if not isinstance(name, str):
            return Seen()
        kind = argument(made, None, "obs_type")
        told = kind.value if isinstance(kind, ast.Constant) else "rgb"
        if "-ram" in name or told == "ram" or _VECTORS.match(name):
            return Seen(is_vector=True)
        if name.startswith("CarRacing-"):
            return Seen(is_picture=True, dtype="uint8", dims=_ROAD)
        if _GAMES.match(name):
            gray = _SCREEN[:2] if told == "grayscale" else _SCREEN
            return Seen(is_picture=True, dtype="uint8", dims=gray)
        return Seen()

    def _wrapped(self, name: str, made: ast.Call, inner: Seen) -> Seen:
        """What the wrappers of the library show of what they wrap."""
        if name == "AtariPreprocessing":
            scales = argument(made, None, "scale_obs")
            scaled = is_literal(scales, True)
            size = argument(made, 3, "screen_size")
            side = self._values.number(size) if size is not None else _SIDE
            square = None if side is None else (as_count(side), as_count(side))
            return Seen(True, False, "float32" if scaled else "uint8", square)
        if name in ("GrayScaleObservation", "GrayscaleObservation"):
            dims = None if inner.dims is None else inner.dims[:2]
            return inner._replace(is_picture=True, dtype=inner.dtype or "uint8", dims=dims)
        if name == "ResizeObservation":
            size = argument(made, 1, "shape")
            sides = size.elts if isinstance(size, ast.Tuple) else [size, size]
            numbers = [None if each is None else self._values.number(each) for each in sides]
            whole = [as_count(each) for each in numbers]
            rest = (None,) if inner.dims is None else inner.dims[2:]
            return inner._replace(
                is_picture=True, dtype=inner.dtype or "uint8", dims=(*whole, *rest)
            )
        if name in ("FrameStack", "FrameStackObservation"):
            number = self._values.number(argument(made, 1, "num_stack") or made)
            frames = as_count(number)
            dims = None if frames is None or inner.dims is None else (frames, *inner.dims)
            return inner._replace(frames=frames, dims=dims)
        return inner

    def _of_class(
        self, made: ast.Call, given: ast.expr | None, frame: Frame | None, hops: int
    ) -> Iterator[Seen]:
        """What a wrapper of the module shows, by its `observation`, or what it wraps."""
        owner = self._functions.definition(made.func)
        if not isinstance(owner, ast.ClassDef):
            return
        shows = self._functions.method(owner, "observation")
        if shows is not None:
            yield Seen(through=shows)
        elif given is not None:
            yield from self._by(given, frame, hops - 1)
