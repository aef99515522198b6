"""What a trial found, as JSON: the content of `measured.json` and of `verify --json`."""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from tfmemlint.report.figures import unit
from tfmemlint.verify.fingerprints import fingerprints, of_same_programs
from tfmemlint.verify.pairs import RESOLUTION, Measurement, Verdict
from tfmemlint.verify.processes import Machine
from tfmemlint.verify.scaling import FACTORS, Scaling, exponent, order
from tfmemlint.vocabulary import Metric


def record(verdict: Verdict) -> dict[str, Any]:
    """Everything another machine needs to repeat the measurement, and what came of it here."""
    claim = verdict.rule.claim
    content: dict[str, Any] = {
        **pair_record(verdict.measurements, verdict.machine),
        "claim": {
            "at_most": claim.at_most,
            **({"grows": list(claim.grows)} if claim.grows else {}),
            "doubt": verdict.doubt,
            "holds": verdict.holds,
            "metric": claim.metric.value,
        },
        "same_output": verdict.same_output,
    }
    for which, figure in _predicted(verdict).items():
        content["metrics"][claim.metric.value][which]["predicted"] = figure
    if programs := fingerprints(verdict.folder):
        content["programs"] = programs
    if verdict.scaling is not None:
        content["scaling"] = _scaling(verdict.scaling, claim.metric)
    if verdict.exhaustion is not None:
        content["out_of_memory"] = {"unit": "bytes", **verdict.exhaustion._asdict()}
    return content


def _predicted(verdict: Verdict) -> dict[str, int]:
    """What the code says of the two programs, by the metric that is claimed, where it says all."""
    from tfmemlint import predictions  # noqa: PLC0415  the facts take long to import

    metric = verdict.rule.claim.metric
    weighed = {
        which: figure
        for one in verdict.measurements
        if one.metric is metric
        for which, figure in (("bad", one.bad_figure), ("fixed", one.fixed_figure))
    }
    return predictions.told(verdict.folder, metric, weighed)


def pair_record(measurements: tuple[Measurement, ...], machine: Machine) -> dict[str, Any]:
    """What two programs weigh, when, on what and with what."""
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "device": device_record(machine),
        "metrics": {one.metric.value: _measurement(one) for one in measurements},
        "runs": len(measurements[0].bad),
        "versions": {**machine.versions, "tfmemlint": metadata.version("tfmemlint")},
    }


def device_record(machine: Machine) -> dict[str, Any]:
    """What programs were run on; a processor has no driver."""
    device: dict[str, Any] = {"kind": machine.device, "name": machine.device_name}
    if machine.device == "gpu":
        device["driver"] = machine.driver
    if machine.remarks:
        device["remarks"] = list(machine.remarks)
    return device


def text(content: Any) -> str:
    """JSON that changes only where what it says changes."""
    return json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def line(content: Any) -> str:
    """The same in one line, as JSON Lines want it."""
    return json.dumps(content, sort_keys=True, ensure_ascii=False)


def write(verdict: Verdict, *, looked_for_limit: bool = True) -> None:
    """Replace the `measured.json` beside the programs.

    What was not measured this time is kept, if it was of the same programs: how they grow, and the
    device that one of them does not finish on, if that was not looked for.
    """
    content = record(verdict)
    before = of_same_programs(verdict.folder)
    for key, is_new in (
        ("scaling", verdict.scaling is not None),
        ("out_of_memory", looked_for_limit),
    ):
        if key in before and not is_new:
            content[key] = {"date": before["date"], **before[key]}
    put(verdict.folder, content)


def put(folder: Path, content: Any) -> None:
    """Write the `measured.json` of a folder, whole or not at all."""
    unfinished = folder / "measured.json.new"
    unfinished.write_text(text(content), encoding="utf-8", newline="\n")
    unfinished.replace(folder / "measured.json")


def _measurement(one: Measurement) -> dict[str, Any]:
    return {
        "bad": _program(one.metric, one.bad, one.bad_figure),
        "fixed": _program(one.metric, one.fixed, one.fixed_figure),
        "meter": one.meter,
        "ratio": round(one.ratio, 4) if math.isfinite(one.ratio) else None,
        "unit": unit(one.metric),
    }


def _program(metric: Metric, runs: tuple[float, ...], figure: float) -> dict[str, Any]:
    return {
        "figure": _rounded(metric, figure),
        "runs": [_rounded(metric, run) for run in runs],
        "spread": _rounded(metric, max(runs) - min(runs)),
    }


def _scaling(scaling: Scaling, metric: Metric) -> dict[str, Any]:
    def growth(weights: tuple[float, ...]) -> dict[str, Any]:
        power = exponent(weights, RESOLUTION[metric])
        return {
            "exponent": round(power, 2),
            "figures": [_rounded(metric, weight) for weight in weights],
            "grows": order(power),
        }

    return {
        "bad": growth(scaling.bad),
        "factors": list(FACTORS[: len(scaling.bad)]),
        "fixed": growth(scaling.fixed),
        "metric": metric.value,
    }


def _rounded(metric: Metric, figure: float) -> float:
    return round(figure, 6) if metric is Metric.STEP_TIME else round(figure)
