"""The server in editors that are here: started by them, not by a client of ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """\
import tensorflow as tf

def f(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x)
    return tape.gradient(y, x)
"""
NEOVIM = """\
local function wait(what) assert(vim.wait(60000, what, 50), "nothing came of it") end
local said = {}
local client = vim.lsp.start_client({
  name = "tfmemlint", cmd = %s, root_dir = vim.fn.getcwd(),
})
vim.lsp.buf_attach_client(0, client)
wait(function() return #vim.diagnostic.get(0) > 0 end)
local found = vim.diagnostic.get(0)
for _, each in ipairs(found) do table.insert(said, { each.code, each.lnum, each.source }) end

local range = vim.lsp.util.make_given_range_params({ 4, 30 }, { 4, 30 })
range.context = { diagnostics = {}, only = { "source.fixAll" } }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", range, 60000)
for _, answer in pairs(answers) do
  for _, action in ipairs(answer.result) do
    table.insert(said, action.title)
    vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
  end
end
wait(function() return #vim.diagnostic.get(0) == 0 end)
vim.cmd("write")

vim.api.nvim_win_set_cursor(0, { 1, 0 })
vim.api.nvim_buf_set_lines(0, 3, 4, false, { "    with tf.GradientTape(persistent=True) as tape:" })
wait(function() return #vim.diagnostic.get(0) == 1 end)
local place = vim.lsp.util.make_position_params()
place.position = { line = 3, character = 40 }
for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/hover", place, 60000)) do
  table.insert(said, answer.result.contents.value)
end
vim.fn.writefile({ vim.fn.json_encode(said) }, "said.json")
vim.cmd("qa!")
"""


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim_shows_findings_applies_fixes_and_explains(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    command = json.dumps([sys.executable, "-m", "tfmemlint", "server"])
    (tmp_path / "script.lua").write_text(NEOVIM % command.replace("[", "{").replace("]", "}"))
    done = subprocess.run(
        ["nvim", "--headless", "-u", "NONE", "-n", "train.py", "-c", "luafile script.lua"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (code, line, source), title, hover = json.loads((tmp_path / "said.json").read_text())

    assert (code, line, source) == ("TFM402", 3, "tfmemlint")
    assert title == "Apply all safe fixes of tfmemlint"
    assert (tmp_path / "train.py").read_text() == PROGRAM.replace("persistent=True", "")
    assert "## What to do instead" in hover


EMACS = """\
(package-initialize)
(require 'eglot)
(load-file "config.el")
(setq eglot-sync-connect 60 eglot-connect-timeout 60)
(find-file "train.py")
(python-mode)
(apply #'eglot (eglot--guess-contact))
(let ((end (+ (float-time) 60)))
  (while (and (< (float-time) end) (null (flymake-diagnostics)))
    (accept-process-output nil 0.1)
    (flymake-start)))
(dolist (each (flymake-diagnostics))
  (princ (format "%s %s\\n" (line-number-at-pos (flymake-diagnostic-beg each))
                 (flymake-diagnostic-text each))))
(kill-emacs 0)
"""


def has_eglot() -> bool:
    if shutil.which("emacs") is None:
        return False
    asked = ["emacs", "--batch", "--eval", "(progn (package-initialize) (require 'eglot))"]
    return subprocess.run(asked, capture_output=True, timeout=600, check=False).returncode == 0


def test_emacs_shows_findings_with_the_settings_of_the_page(tmp_path: Path) -> None:
    page = Path(__file__).parent.parent / "docs" / "editors.md"
    if not page.is_file() or not has_eglot():
        pytest.skip("Emacs with eglot, and the documentation, are not here")
    (settings,) = re.findall(r"```elisp\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
    (tmp_path / "config.el").write_text(settings)
    (tmp_path / "script.el").write_text(EMACS)
    (tmp_path / "train.py").write_text(PROGRAM)
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    starter = bin_folder / "tfmemlint"
    starter.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m tfmemlint "$@"\n')
    starter.chmod(0o755)
    done = subprocess.run(
        ["emacs", "--batch", "-l", "script.el"],
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "PATH": f"{bin_folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )

    assert "4 tfmemlint [TFM402]: `tape` is persistent" in done.stdout, done.stderr
