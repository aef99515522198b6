"""What is known of pictures: what shows them, their bytes, and how many frames they hold."""

import ast
from textwrap import dedent

import pytest

from tfmemlint import File
from tfmemlint_rules._analyses.pictures import Picture, Pictures, Sort

HEAD = """
from collections import deque
import cv2, gym, gymnasium, skimage
import numpy as np
import tensorflow as tf
from PIL import Image
game = gym.make("BreakoutNoFrameskip-v4")
frame = game.reset()
"""


def picture(source: str) -> Picture:
    """What the last expression of a program gives."""
    file = File("example.py", HEAD + dedent(source))
    last = file.tree.body[-1]
    assert isinstance(last, ast.Expr)
    return file.tf.of(Pictures).of(last.value)


@pytest.mark.parametrize(
    ("source", "dtype", "dims"),
    [
        ("frame", "uint8", (210, 160, 3)),
        ("gymnasium.make('ALE/Pong-v5').step(0)[0]", "uint8", (210, 160, 3)),
        ("gymnasium.make('CarRacing-v2').reset()[0]", "uint8", (96, 96, 3)),
        ("frame / 255.0", "float64", (210, 160, 3)),
        ("frame * (1 / 255)", "float64", (210, 160, 3)),
        ("frame.astype(np.float32) / 255.0", "float32", (210, 160, 3)),
        ("(frame / 255 * 255).astype('uint8')", "uint8", (210, 160, 3)),
        ("frame[30:194:2, ::2, 0]", "uint8", (82, 80)),
        ("frame.mean(axis=2)", "float64", (210, 160)),
        ("tf.image.resize(frame, [84, 84])", "float32", (84, 84, 3)),
        ("tf.image.resize(frame, [84, 84], 'nearest')", "uint8", (84, 84, 3)),
        ("cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), (84, 84))", "uint8", (84, 84)),
        ("skimage.transform.resize(skimage.color.rgb2gray(frame), (84, 84))", "float64", (84, 84)),
        ("np.array(Image.open('a.png'))", "uint8", None),
        ("np.random.randint(256, size=(64, 64), dtype=np.uint8)", "uint8", (64, 64)),
        ("gym.wrappers.AtariPreprocessing(game, scale_obs=True).reset()", "float32", (84, 84)),
        ("gym.wrappers.GrayScaleObservation(game).reset()", "uint8", (210, 160)),
    ],
)
def test_pictures_are_known_by_what_shows_them_and_what_was_made_of_it(
    source: str, dtype: str, dims: tuple[int, ...] | None
) -> None:
    found = picture(source)

    assert found.sort is Sort.PICTURE
    assert (found.dtype, found.dims) == (dtype, dims)


@pytest.mark.parametrize(
    "source",
    [
        "gym.make('CartPole-v1').reset() / 255.0",
        "gym.make('Breakout-ram-v0').reset()",
        "gymnasium.make('ALE/Pong-v5', obs_type='ram').reset()[0]",
        "gym.make(unknown).reset()",
        "unknown.reset()",
        "np.mean(frame)",
        "np.random.normal(size=(64, 64))",
        "np.zeros((8, 8), dtype=np.uint8)",
        "model(frame)",
        "unknown / 255.0",
        "1e999 / 255",
        "frame @ frame",
    ],
)
def test_what_may_be_a_few_numbers_is_no_picture(source: str) -> None:
    assert picture(source).sort is not Sort.PICTURE


@pytest.mark.parametrize(
    ("source", "frames"),
    [
        ("np.stack([frame] * 4)", 4),
        ("last = deque([frame] * 3, maxlen=3)\nlast.append(frame)\nnp.stack(last, axis=-1)", 3),
        ("s = np.stack([frame] * 4)\ns = np.append(s[1:], frame)\ns", 4),
        ("np.append(frame[1:], frame, axis=0)", None),
        ("np.stack([frame, cv2.imread('b.png')])", 1),
        ("env = gym.wrappers.FrameStack(game, 4)\nnp.array(env.reset())", 4),
        (
            "last = np.zeros((4, 84, 84))\n"
            "while True:\n"
            "    last = np.roll(last, 1, axis=0)\n"
            "    last[0] = cv2.resize(frame, (84, 84))[:, :, 0] / 255\n"
            "last",
            4,
        ),
    ],
)
def test_frames_are_counted_that_the_next_picture_holds_again(
    source: str, frames: int | None
) -> None:
    found = picture(source)

    assert found.sort is Sort.PICTURE
    assert found.frames == frames


def test_frames_that_are_put_together_when_they_are_read_are_held_once() -> None:
    found = picture("gym.wrappers.FrameStack(game, 4).reset()")

    assert (found.frames, found.is_stacked) == (4, False)
