"""What holds a claim and what does not, from figures alone."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tfmemlint.report.figures import amount
from tfmemlint.verify.exhaustion import Exhaustion
from tfmemlint.verify.meters import slope
from tfmemlint.verify.pairs import RESOLUTION, Measurement, Verdict, figure, settled
from tfmemlint.verify.processes import Machine
from tfmemlint.verify.record import record, text
from tfmemlint.verify.scaling import Scaling
from tfmemlint.vocabulary import Claim, Metric, Rule

MB = 1 << 20
HALF = Claim(Metric.DEVICE_PEAK, 0.5, "half as much is held")
MACHINE = Machine("cpu", "a processor", {"tensorflow": "2.21.0"})


def weighed(*bad: float, fixed: tuple[float, ...]) -> Measurement:
    return Measurement(Metric.DEVICE_PEAK, bad, fixed, "a meter")


def verdict(rule: Rule, same_output: bool | None = True, scaling: Scaling | None = None) -> Verdict:
    measurement = weighed(200 * MB, fixed=(20 * MB,))
    return Verdict(rule, (measurement,), same_output, MACHINE, Path("nowhere"), scaling=scaling)


def test_a_tenth_holds_where_a_half_is_claimed() -> None:
    measurement = weighed(200 * MB, fixed=(20 * MB,))
    assert measurement.ratio == 0.1
    assert measurement.doubt(HALF) is None


def test_twin_programs_do_not_hold() -> None:
    assert weighed(200 * MB, fixed=(200 * MB,)).doubt(HALF) == (
        "the ratio is 1.000, more than the 0.5 claimed"
    )


@pytest.mark.parametrize("metric", Metric)
def test_twin_programs_hold_by_no_metric_whatever_is_claimed(metric: Metric) -> None:
    twins = Measurement(metric, (5e9, 5e9, 5e9), (5e9, 5e9, 5e9))
    assert twins.doubt(Claim(metric, 1.0, "")) is not None
    assert twins.doubt(Claim(metric, 2.0, "")) is not None


def test_exactly_what_is_claimed_holds() -> None:
    assert weighed(200 * MB, fixed=(100 * MB,)).doubt(HALF) is None


def test_a_byte_more_than_claimed_does_not_hold() -> None:
    assert weighed(200 * MB, fixed=(100 * MB + 1,)).doubt(HALF) is not None


@pytest.mark.parametrize("metric", Metric)
def test_a_saving_below_what_the_meter_can_tell_does_not_hold(metric: Metric) -> None:
    grain = RESOLUTION[metric]
    claim = Claim(metric, 0.5, "")
    assert Measurement(metric, (grain,), (0.0,)).doubt(claim) is None
    too_small = Measurement(metric, (grain * 0.9,), (0.0,)).doubt(claim)
    assert too_small is not None
    assert "less than" in too_small


def test_a_bad_program_that_weighs_nothing_does_not_hold() -> None:
    nothing = weighed(0, fixed=(0,))
    assert nothing.ratio == math.inf
    assert nothing.doubt(HALF) == "the bad program weighs nothing"


def test_runs_that_overlap_do_not_hold() -> None:
    claim = Claim(Metric.HOST_PEAK, 0.5, "")
    apart = Measurement(
        Metric.HOST_PEAK, (99 * MB, 200 * MB, 210 * MB), (20 * MB, 21 * MB, 98 * MB)
    )
    overlapping = apart._replace(bad=(98 * MB, 200 * MB, 210 * MB))
    assert apart.doubt(claim) is None
    assert overlapping.doubt(claim) == (
        "one run of the fixed program weighs as much as one of the bad program"
    )


def test_a_time_that_is_far_off_once_counts_no_more_than_others() -> None:
    claim = Claim(Metric.STEP_TIME, 0.8, "")
    bad, fixed = (0.16, 0.17, 0.16, 0.09), (0.08, 0.08, 0.3, 0.08)
    assert Measurement(Metric.STEP_TIME, bad, fixed).doubt(claim) is None
    assert Measurement(Metric.STEP_TIME, bad[1:], fixed[1:]).doubt(claim) is not None
    assert Measurement(Metric.HOST_PEAK, bad, fixed).doubt(claim) is not None


def test_times_are_taken_until_most_agree() -> None:
    assert settled(Metric.STEP_TIME, (0.160,), (0.050,))
    assert not settled(Metric.STEP_TIME, (0.160,), (0.080,))
    assert settled(Metric.STEP_TIME, (0.160, 0.165), (0.080, 0.084))
    assert not settled(Metric.STEP_TIME, (0.160, 0.190), (0.080, 0.084))
    assert not settled(Metric.STEP_TIME, (0.160, 0.165), (0.080, 0.100))
    assert settled(Metric.STEP_TIME, (0.160, 0.165, 0.16, 0.16, 0.5), (0.080,) * 5)
    assert settled(Metric.DEVICE_PEAK, (200 * MB, 400 * MB), (20 * MB, 20 * MB))


@pytest.mark.parametrize(
    ("weights", "doubt"),
    [
        (((50, 100, 200), (20, 20, 20)), None),
        (
            ((50, 100, 200), (20, 40, 80)),
            "the growth of the fixed program is linear, not constant as claimed",
        ),
        (
            ((25, 100, 400), (20, 20, 20)),
            "the growth of the bad program is quadratic, not linear as claimed",
        ),
        (None, "how the programs grow was not measured"),
    ],
)
def test_a_claim_may_demand_how_the_programs_grow(
    rule: Callable[..., Rule],
    weights: tuple[tuple[int, ...], tuple[int, ...]] | None,
    doubt: str | None,
) -> None:
    scaling = None
    if weights:
        scaling = Scaling(*(tuple(float(each * MB) for each in one) for one in weights))
    demanding = rule(grows=("linear", "constant"))
    assert verdict(demanding, scaling=scaling).doubt == doubt
    assert verdict(rule(), scaling=scaling).doubt is None
    assert record(verdict(demanding))["claim"]["grows"] == ["linear", "constant"]


def test_what_a_gpu_does_not_hold_is_not_held_against_the_claim(
    rule: Callable[..., Rule],
) -> None:
    on_gpu = Machine("gpu", "a GPU", {"tensorflow": "2.21.0"}, "550.54.14")
    little = verdict(rule())._replace(measurements=(weighed(900, fixed=(800,)),))
    assert little.doubt == "the ratio is 0.889, more than the 0.5 claimed"
    assert little._replace(machine=on_gpu).doubt == (
        "the bad program holds nothing on the GPU; --device cpu weighs the host's tensors"
    )
    assert verdict(rule())._replace(machine=on_gpu).doubt is None


def test_a_gpu_is_recorded_with_its_driver(rule: Callable[..., Rule]) -> None:
    on_gpu = Machine("gpu", "a GPU", {"tensorflow": "2.21.0"}, "550.54.14")
    device = record(verdict(rule())._replace(machine=on_gpu))["device"]
    assert device == {"kind": "gpu", "name": "a GPU", "driver": "550.54.14"}


def test_another_metric_than_the_claimed_does_not_hold() -> None:
    host = Measurement(Metric.HOST_PEAK, (200 * MB,), (20 * MB,))
    assert host.doubt(HALF) == "the claim is about device peak, not host peak"


def test_figures_that_are_no_numbers_do_not_hold() -> None:
    assert weighed(math.nan, fixed=(1.0,)).doubt(HALF) is not None
    assert weighed(200 * MB, fixed=(math.nan,)).doubt(HALF) is not None


def test_the_allocator_is_taken_at_its_least_and_the_rest_at_the_median() -> None:
    assert figure(Metric.DEVICE_PEAK, (3, 1, 2)) == 1
    assert {figure(metric, (3, 1, 9)) for metric in Metric if metric is not Metric.DEVICE_PEAK} == {
        3
    }


def test_nothing_measured_does_not_hold(rule: Callable[..., Rule]) -> None:
    nothing = verdict(rule())._replace(measurements=())
    assert nothing.doubt == "nothing was measured"
    assert not nothing.holds


@pytest.mark.parametrize(
    ("same_output", "doubt"),
    [
        (True, None),
        (False, "outputs differ, although the fix is said to be safe"),
        (None, "the fix is said to be safe, but the programs print nothing to compare"),
    ],
)
def test_a_safe_fix_has_to_print_the_same(
    rule: Callable[..., Rule], same_output: bool | None, doubt: str | None
) -> None:
    assert verdict(rule(safety="Safe: same values, same order."), same_output).doubt == doubt


@pytest.mark.parametrize("same_output", [True, False, None])
@pytest.mark.parametrize("safety", ["Unsafe: other order.", "No fix: nothing is Safe.", ""])
def test_other_fixes_may_print_what_they_like(
    rule: Callable[..., Rule], safety: str, same_output: bool | None
) -> None:
    assert verdict(rule(safety=safety), same_output).holds


@pytest.mark.parametrize(
    ("metric", "quantity", "words"),
    [
        (Metric.DEVICE_PEAK, 245 * MB, "245 MB"),
        (Metric.HOST_PEAK, 0, "0 B"),
        (Metric.HOST_PEAK, -3 * MB, "-3.0 MB"),
        (Metric.GRAPH_BYTES, 1536, "1.5 KB"),
        (Metric.DEVICE_GROWTH, 1536, "1.5 KB a step"),
        (Metric.HOST_GROWTH, 12, "12 B a step"),
        (Metric.TRACES, 60, "60 traces"),
        (Metric.STEP_TIME, 0.0123, "12.3 ms"),
    ],
)
def test_figures_have_their_unit(metric: Metric, quantity: float, words: str) -> None:
    assert amount(metric, quantity) == words


def test_growth_is_the_slope_after_the_first_third() -> None:
    warming_up = [1e9 * step for step in range(10)]
    assert slope([*warming_up, *(5e9 + 7 * step for step in range(20))]) == 7
    assert slope([*warming_up, *(5e9 for _ in range(20))]) == 0


def test_one_jump_is_no_growth() -> None:
    assert slope([100.0] * 45 + [1e6] + [100.0] * 15) == 0
    assert slope([0.0] * 50 + [1e6] * 10) == 0


def test_the_slope_of_many_steps_is_found_in_little_time() -> None:
    assert slope([3.0 * step for step in range(100_000)]) == 3


def test_the_record_has_everything_it_takes_to_judge_again(rule: Callable[..., Rule]) -> None:
    content = json.loads(text(record(verdict(rule()))))
    day, versions = content.pop("date"), content.pop("versions")
    assert len(day) == len("2026-01-31")
    assert set(versions) == {"tensorflow", "tfmemlint"}
    assert content == {
        "claim": {"at_most": 0.5, "doubt": None, "holds": True, "metric": "device peak"},
        "device": {"kind": "cpu", "name": "a processor"},
        "metrics": {
            "device peak": {
                "bad": {"figure": 200 * MB, "runs": [200 * MB], "spread": 0},
                "fixed": {"figure": 20 * MB, "runs": [20 * MB], "spread": 0},
                "meter": "a meter",
                "ratio": 0.1,
                "unit": "bytes",
            }
        },
        "runs": 1,
        "same_output": True,
    }


def test_the_record_says_why_a_claim_does_not_hold(rule: Callable[..., Rule]) -> None:
    claim = record(verdict(rule(at_most=0.01)))["claim"]
    assert claim["holds"] is False
    assert claim["doubt"] == "the ratio is 0.100, more than the 0.01 claimed"


def test_the_record_says_how_the_programs_grow(rule: Callable[..., Rule]) -> None:
    scaling = Scaling((50 * MB, 100 * MB, 200 * MB), (20 * MB, 20 * MB, 20 * MB))
    content = record(verdict(rule(), scaling=scaling))["scaling"]
    assert content == {
        "bad": {"exponent": 1.0, "figures": list(scaling.bad), "grows": "linear"},
        "factors": [0.5, 1.0, 2.0],
        "fixed": {"exponent": 0.0, "figures": list(scaling.fixed), "grows": "constant"},
        "metric": "device peak",
    }


def test_the_record_says_on_which_device_only_the_fixed_program_finishes(
    rule: Callable[..., Rule],
) -> None:
    small = verdict(rule())._replace(exhaustion=Exhaustion(64 * MB, "SIGSEGV"))
    assert record(small)["out_of_memory"] == {
        "death": "SIGSEGV",
        "limit": 64 * MB,
        "unit": "bytes",
    }
    assert "out_of_memory" not in record(verdict(rule()))


def test_the_record_is_valid_json_even_where_nothing_was_weighed(
    rule: Callable[..., Rule],
) -> None:
    nothing = verdict(rule())._replace(measurements=(weighed(0, fixed=(0,)),))
    written = text(record(nothing))
    assert json.loads(written)["metrics"]["device peak"]["ratio"] is None
    assert written.endswith("}\n")
    assert list(json.loads(written)) == sorted(json.loads(written))
