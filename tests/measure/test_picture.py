"""The page of a measurement, as a browser shows it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tfmemlint.measure.account import Account, Holding, Host, Line
from tfmemlint.measure.advice import Advice
from tfmemlint.measure.picture import page
from tfmemlint.measure.statements import Statement

MB = 1 << 20
NAME = "StatefulPartitionedCall/sequential_1/" + "a_layer_with_a_long_name_" * 8 + "/BiasAdd"
ASK = """
<script>
  const wide = [...document.querySelectorAll("*")].filter(each =>
    each.scrollWidth > each.clientWidth + 1 && getComputedStyle(each).overflowX != "visible");
  document.title = "cut off: " + wide.length + ", wider than the window: "
    + (document.documentElement.scrollWidth > innerWidth);
</script>
"""


def account() -> Account:
    line = Statement("/nowhere/train.py", 6, 6, "")
    small = [Holding(64, 1, f"Small_{number}", "[16]", "float32") for number in range(9)]
    held = Line(line, 40 * MB, (Holding(40 * MB, 2, NAME, "[2048,512]", "float32"), *small))
    return Account(
        ended="finished",
        status=0,
        failure=None,
        device="CPU:0",
        requested=40 * MB,
        in_use=40 * MB,
        peak_seconds=1.0,
        stack=(line,),
        held=(held,),
        held_bytes=40 * MB,
        held_by=(),
        most={line: 40 * MB},
        explained=1.0,
        host_before=0,
        host_peak=100 * MB,
        host=Host(),
        curve=((0.0, 0), (1.0, 40 * MB)),
        seconds=2.0,
        own_seconds=0.1,
        versions={"python": "3"},
        notes=(),
    )


def test_what_is_tiny_is_counted_together() -> None:
    text = page("train.py", account(), Advice())

    assert f"40 MB  2 x {NAME} [2048,512] float32<br>576 B  and 9 more kinds" in text


@pytest.mark.parametrize("width", [1200, 600])
def test_no_name_is_cut_off(width: int, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser")
    if browser is None:
        pytest.skip("chromium is not installed")
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "",
                  page("train.py", account(), Advice()))  # fmt: skip
    (tmp_path / "page.html").write_text(text.replace("</body>", f"{ASK}</body>"))
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/user"]
    done = subprocess.run(
        [browser, *options, f"--window-size={width},900", "--dump-dom", tmp_path / "page.html"],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )

    assert "<title>cut off: 0, wider than the window: false</title>" in done.stdout
