"""Plots as they are looked at: drawn by a browser and by librsvg, which many others use."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from io import StringIO
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

from tfmemlint import plots
from tfmemlint.plots import Axis, Bar, Group, Series, Theme, ticks

pytest.importorskip("matplotlib", reason="needs matplotlib, of the extra `plots`")
import numpy as np
from matplotlib import image
from matplotlib.backends.backend_svg import RendererSVG
from matplotlib.text import Text

from tfmemlint.plots import drawing

MB = 1 << 20
HOSTILE = "$x$ </title><script>alert(1)</script> -->\x1b[2J\u202e &amp; \u4e2d\u6587"
LONG = "/".join(["a/very/long/path/of/somebody"] * 9) + "/train.py"
SCALE = 3
LEAST_CONTRAST = 4.5

BARS = [
    Bar("TFM101", "the-longest-name-of-any-rule-there-is-and-more", 0.0, "256 MB \u2192 0 B"),
    Bar("TFM202", "toy", 0.005, "39.6 ms \u2192 0.2 ms step time, and a great deal more of it"),
    Bar("TFM303", "toy", 0.5, "100 \u2192 50 traces"),
    Bar(LONG, "", 1.0, ""),
    Bar(HOSTILE, HOSTILE, 1.7, HOSTILE),
]
SHORT = [Bar(f"TFM{number}", "", number / 40, "") for number in range(1, 41)]
CURVE = [
    Series("bad", f"without the fix, 200 MB {HOSTILE}", [(0, 0), (0.5, 200 * MB), (1, 10 * MB)]),
    Series("fixed", "with it, 20 MB", [(0, 0), (0.5, 20 * MB), (1, 0)]),
    Series("fixed", "nothing", []),
]
TIME = Axis(ticks(1), "{:g} s".format)
BYTES = Axis(ticks(200 * MB, base=1024), lambda amount: f"{amount / MB:.0f} MB")
DRAWN: dict[str, Callable[[Theme], Any]] = {
    "columns": lambda theme: drawing.columns(
        "What is left", "Measured on " + LONG, [Group("one", SHORT), Group("of one", BARS[:1])],
        theme,
    ),
    "rows": lambda theme: drawing.rows("What is left " + HOSTILE, "Measured", BARS, theme),
    "no rows": lambda theme: drawing.rows("What is left", "Nothing was measured.", [], theme),
    "lines": lambda theme: drawing.lines("Memory over time", CURVE, TIME, BYTES, theme),
}  # fmt: skip


class Picture(NamedTuple):
    """A plot as pixels, `SCALE` for each of its own."""

    pixels: Any

    def box(self, left: float, top: float, right: float, bottom: float) -> Counter[Any]:
        rows, columns = (round(top * SCALE), round(bottom * SCALE)), (left * SCALE, right * SCALE)
        cut = self.pixels[slice(*rows), round(columns[0]) : round(columns[1])]
        levels = np.rint(cut[..., :3] * 255).astype(np.uint32)
        packed = levels[..., 0] << 16 | levels[..., 1] << 8 | levels[..., 2]
        found = zip(*np.unique(packed, return_counts=True), strict=True)
        return Counter(
            {tuple(int(colour) >> by & 255 for by in (16, 8, 0)): int(n) for colour, n in found}
        )


def in_chromium(svg: Path, wide: int, high: int) -> Picture:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("chromium is not installed")
    page, out = svg.with_suffix(".html"), svg.with_suffix(".png")
    page.write_text(f'<body style="margin:0"><img src="{svg.name}" style="display:block">')
    subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            f"--user-data-dir={svg.parent / 'profile'}",
            f"--force-device-scale-factor={SCALE}", f"--window-size={wide + 200},{high + 200}",
            f"--screenshot={out}", page.as_uri(),
        ],
        check=True, capture_output=True, timeout=600,
    )  # fmt: skip
    return Picture(image.imread(out)[: high * SCALE, : wide * SCALE])


def in_librsvg(svg: Path, wide: int, high: int) -> Picture:
    converter = shutil.which("rsvg-convert")
    if converter is None:
        pytest.skip("rsvg-convert is not installed")
    out = svg.with_suffix(".png")
    subprocess.run(
        [converter, f"--zoom={SCALE}", f"--output={out}", str(svg)], check=True, timeout=600
    )
    return Picture(image.imread(out))


def luminance(colour: tuple[float, ...]) -> float:
    """As WCAG 2 defines it."""
    red, green, blue = (
        each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4
        for each in (level / 255 for level in colour)
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def texts(figure: Any) -> list[tuple[str, tuple[float, float, float, float]]]:
    """All that is written, with where: left, top, right and bottom in pixels."""
    high = figure.bbox.height
    warnings.simplefilter("ignore")  # of letters that the font lacks
    renderer_class: Any = RendererSVG
    renderer = renderer_class(figure.bbox.width, high, StringIO(), image_dpi=72)
    return [
        (text.get_text(), (box.x0, high - box.y1, box.x1, high - box.y0))
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip()
        for box in [text.get_window_extent(renderer)]
    ]


@pytest.mark.parametrize("theme", Theme)
@pytest.mark.parametrize("drawn", DRAWN)
def test_all_that_is_written_has_its_place_within_the_picture(drawn: str, theme: Theme) -> None:
    figure = DRAWN[drawn](theme)
    wide, high = figure.bbox.width, figure.bbox.height
    written = texts(figure)

    assert written
    for text, (left, top, right, bottom) in written:
        assert left >= 4, text
        assert top >= 4, text
        assert right <= wide - 4, text
        assert bottom <= high - 4, text
    for (text, one), (other, two) in combinations(written, 2):
        apart = one[2] <= two[0] or two[2] <= one[0] or one[3] <= two[1] or two[3] <= one[1]
        assert apart, (text, other)


@pytest.mark.parametrize("render", [in_chromium, in_librsvg])
@pytest.mark.parametrize("theme", Theme)
@pytest.mark.parametrize("drawn", DRAWN)
def test_what_is_written_can_be_read_and_is_not_cut_off(
    drawn: str, theme: Theme, render: Callable[[Path, int, int], Picture], tmp_path: Path
) -> None:
    figure = DRAWN[drawn](theme)
    svg = tmp_path / "plot.svg"
    svg.write_text(drawing.svg(figure, "A plot", theme), "utf-8")
    wide, high = int(figure.bbox.width), int(figure.bbox.height)
    picture = render(svg, wide, high)
    paper = next(iter(picture.box(0, 0, 3, 3)))

    edges = [(0, 0, wide, 3), (0, 0, 3, high), (0, high - 3, wide, high), (wide - 3, 0, wide, high)]
    for edge in edges:
        assert set(picture.box(*edge)) == {paper}, edge
    for text, box in texts(figure):
        found = picture.box(*box)
        behind = found.most_common(1)[0][0]
        assert max(contrast(behind, ink) for ink in found) >= LEAST_CONTRAST, text


@pytest.mark.parametrize("render", [in_chromium, in_librsvg])
@pytest.mark.parametrize("name", ["savings.svg", "savings-dark.svg"])
def test_the_pictures_of_the_rules_are_whole(
    name: str, render: Callable[[Path, int, int], Picture], tmp_path: Path
) -> None:
    shipped = Path(__file__).parents[2] / "rules" / name
    svg = tmp_path / "plot.svg"
    svg.write_bytes(shipped.read_bytes())
    size = ElementTree.fromstring(svg.read_text("utf-8"))
    wide, high = (int(float(size.attrib[side])) for side in ("width", "height"))
    picture = render(svg, wide, high)
    paper = next(iter(picture.box(0, 0, 3, 3)))

    for edge in [(0, 0, wide, 3), (0, 0, 3, high), (0, high - 3, wide, high)]:
        assert set(picture.box(*edge)) == {paper}, edge
    assert set(picture.box(wide - 3, 0, wide, high)) == {paper}
    colours = {colour for colour, _ in picture.box(0, 0, wide, high).most_common(3)}
    assert len(colours) == 3  # paper and the two parts of columns: not all black


@pytest.mark.parametrize("drawn", DRAWN)
def test_a_plot_is_xml_with_a_title_that_needs_nothing_else(drawn: str) -> None:
    svg = drawing.svg(DRAWN[drawn](Theme.LIGHT), HOSTILE, Theme.LIGHT)
    root = ElementTree.fromstring(svg)

    assert root.attrib["role"] == "img"
    assert (root[0].tag.rpartition("}")[2], "alert(1)" in (root[0].text or "")) == ("title", True)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "image", "foreignObject", "text"}
    assert not re.search(r"@import|var\(|\x1b|\u202e", svg)
    links = [each.attrib[name] for each in root.iter() for name in each.attrib if "href" in name]
    assert all(link.startswith("#") for link in links)


def test_the_same_is_drawn_the_same() -> None:
    def draw() -> str:
        return plots.lines("Memory", CURVE, TIME, BYTES)

    assert draw() == draw()


def test_settings_of_the_user_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 40\nfont.family: serif\nfigure.facecolor: black\ntext.color: white\n"
    )
    program = (
        "from tfmemlint import plots; print(plots.rows('t', 'a', [plots.Bar('x','y',.5,'z')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True
    )

    assert done.stdout.rstrip() == plots.rows("t", "a", [Bar("x", "y", 0.5, "z")]).rstrip()


@pytest.mark.parametrize(
    ("most", "base", "expected"),
    [
        (0, 10, [0, 1]),
        (0.8, 10, [0, 0.2, 0.4, 0.6, 0.8]),
        (1, 10, [0, 0.5, 1]),
        (7, 10, [0, 2, 4, 6, 8]),
        (200 * MB, 1024, [0, 50 * MB, 100 * MB, 150 * MB, 200 * MB]),
        (201 * MB, 1024, [0, 100 * MB, 200 * MB, 300 * MB]),
        (1.5 * MB, 1024, [0, 0.5 * MB, MB, 1.5 * MB]),
    ],
)
def test_ticks_are_round_and_reach_the_end(most: float, base: int, expected: list[float]) -> None:
    assert ticks(most, base=base) == pytest.approx(expected)


NO_MATPLOTLIB = """
import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "matplotlib":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Missing())
import importlib.util
find = importlib.util.find_spec
def find_spec(name, package=None):
    return None if name == "matplotlib" else find(name, package)
importlib.util.find_spec = find_spec
"""


@pytest.mark.parametrize(
    "command",
    [
        ["verify", "--recorded", "--svg", "s.svg"],
        ["verify", "--html", "s.html", "TFM202"],
        ["measure", "--html", "s.html", "train.py"],
    ],
)
def test_without_matplotlib_it_is_said_what_to_install(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("print('ran')\n")
    program = f"{NO_MATPLOTLIB}\nfrom tfmemlint.cli import main\nsys.exit(main({command}))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, check=False, capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert 'needs matplotlib: pip install "tfmemlint[plots]"' in done.stderr
