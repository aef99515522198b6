"""What a run has left behind, whole or cut short; and the words of programs that died."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

import pytest

from tfmemlint.measure import failures
from tfmemlint.measure.account import Account, UnusableError, read
from tfmemlint.measure.command import main
from tfmemlint.measure.watching import RISES


def test_a_run_that_left_nothing_could_not_be_started(tmp_path: Path) -> None:
    with pytest.raises(UnusableError, match="could not be started"):
        read(tmp_path / "record", tmp_path / "account", 1)


def test_a_run_that_says_why_it_cannot_be_is_refused_with_that(tmp_path: Path) -> None:
    tmp_path.joinpath("record").write_text(json.dumps({"unusable": "no such thing"}), "utf-8")
    with pytest.raises(UnusableError, match="no such thing"):
        read(tmp_path / "record", tmp_path / "account", 1)


def test_a_run_killed_before_it_wrote_a_record_is_still_accounted_for(tmp_path: Path) -> None:
    figures = array("q", [70, 90, 0, 0, 90])
    assert len(figures) == RISES + 1
    tmp_path.joinpath("account").write_bytes(figures.tobytes())
    account = read(tmp_path / "record", tmp_path / "account", -9)
    assert (account.ended, account.status, account.in_use) == ("killed", 137, 90)
    assert account.failure is not None
    assert account.failure.what == "SIGKILL"
    assert account.requested is None


def left_by_a_run(folder: Path, requested: int, rounded: int, peak: int, in_use: int) -> Account:
    """The account of a run whose trace and whose allocator say so much."""
    record = {
        "ended": "finished",
        "statements": [["", 0, 0, ""], ["toy.py", 1, 1, ""]],
        "error": None,
        "held": [
            {
                "statement": 1,
                "written_at": 1,
                "operation": None,
                "shape": None,
                "dtype": None,
                "tensors": 1,
                "bytes": requested,
                "holder": 0,
            }
        ],
        "holders": [{"name": "kept", "kind": "list", "place": None, "grows": None}],
        "peak": {
            "requested": requested,
            "rounded": rounded,
            "in_use": in_use,
            "at": 1.0,
            "stack": [1],
            "watched_stack": [1],
        },
    }
    folder.joinpath("record").write_text(json.dumps(record), "utf-8")
    folder.joinpath("account").write_bytes(array("q", [0, peak, 1, 0, 0, peak]).tobytes())
    return read(folder / "record", folder / "account", 0)


def test_no_figure_is_above_the_peak_of_the_allocator(tmp_path: Path) -> None:
    account = left_by_a_run(tmp_path, requested=525, rounded=525, peak=391, in_use=299)
    assert (account.requested, account.in_use, account.explained) == (391, 391, 1.0)


def test_how_much_of_what_was_in_use_the_trace_explains_is_known(tmp_path: Path) -> None:
    account = left_by_a_run(tmp_path, requested=70, rounded=72, peak=80, in_use=75)
    assert (account.requested, account.in_use, account.explained) == (70, 80, 0.9)
    assert [(each.name, each.bytes) for each in account.held_by] == [("kept", 70)]
    little = left_by_a_run(tmp_path, requested=20, rounded=20, peak=80, in_use=75)
    assert (little.requested, little.explained, little.held_by) == (None, 0.25, ())


EAGER = (
    "{{function_node __wrapped__Pack_N_192_device_/job:localhost/replica:0}} OOM when allocating "
    "tensor with shape[192,224,224,3] and type float on /job:localhost/replica:0/task:0 by "
    "allocator bfc_cpu_allocator_for_gpu [Op:Pack] name: stack"
)
GRAPH = (
    "Graph execution error:\n\nDetected at node dense/MatMul defined at (most recent call last):\n"
    "OOM when allocating tensor with shape[16384,2048] and type double on /job:localhost\n"
    "\t [[{{node dense/MatMul}}]] [Op:__inference_step_12]"
)
CONSTANT = (
    "Graph execution error:\n\nCannot parse tensor from proto: dtype: DT_HALF\ntensor_shape {\n"
    "  dim {\n    size: 75\n  }\n  dim {\n    size: 256\n  }\n}\n\n"
    "\t [[{{node zeros}}]] [Op:__inference_grow_44]"
)


@pytest.mark.parametrize(
    ("message", "tensor", "elements", "operation", "node"),
    [
        (EAGER, ("[192,224,224,3]", "float"), 192 * 224 * 224 * 3, "Pack", None),
        (GRAPH, ("[16384,2048]", "double"), 16384 * 2048, "dense/MatMul", "dense/MatMul"),
        (CONSTANT, ("[75,256]", "half"), 75 * 256, "zeros", "zeros"),
    ],
)
def test_the_tensor_and_the_operation_are_read_out_of_what_tensorflow_says(
    message: str, tensor: tuple[str, str], elements: int, operation: str, node: str | None
) -> None:
    requested = failures.requested(message)
    assert requested == tensor
    assert requested is not None
    assert requested.elements == elements
    assert failures.operation(message) == operation
    assert failures.node(message) == node


@pytest.mark.parametrize("message", ["", "no such file", "shape mismatch: [2,3] and [3]"])
def test_nothing_is_read_out_of_other_words(message: str) -> None:
    assert failures.requested(message) is None
    assert failures.operation(message) is None


def test_the_error_behind_an_error_counts_and_others_do_not() -> None:
    inner, outer = MemoryError("inner"), ValueError("outer")
    outer.__cause__ = inner
    assert failures.exhausted(outer, MemoryError) is inner
    assert failures.exhausted(inner, MemoryError) is inner
    assert failures.exhausted(outer, OSError) is None
    assert failures.exhausted(ValueError(CONSTANT), OSError) is not None


@pytest.mark.parametrize("size", ["0", "-1", "x", "12 apples", "1KB", "", "nan"])
def test_a_limit_that_is_no_size_is_a_usage_error(
    size: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        main([f"--limit={size}", "toy.py"])
    assert end.value.code == 2
    assert "--limit" in capsys.readouterr().err


def test_a_program_that_is_not_there_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no\x1b[2Jne.py"]) == 2
    assert capsys.readouterr().err == "error: no\u241b[2Jne.py: No such file or directory\n"
