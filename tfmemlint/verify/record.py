"""What a trial found, as JSON: the content of `measured.json` and of `verify --json`."""

from __future__ import annotations

import json
import math
from datetime import datetime, timezone
from importlib import metadata
from typing import Any

from tfmemlint.report.figures import unit
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
    predicted = _predicted(verdict)
    if predicted:
        content["predicted"] = predicted
    if verdict.scaling is not None:
        content["scaling"] = _scaling(verdict.scaling, claim.metric)
    if verdict.exhaustion is not None:
        content["out_of_memory"] = {"unit": "bytes", **verdict.exhaustion._asdict()}
    return content


def _predicted(verdict: Verdict) -> dict[str, Any]:
    """What the code of the two programs says of the metric that is claimed, in its unit."""
    from tfmemlint.predictions import of_programs  # noqa: PLC0415  the facts take long to import

    return {
        which: {"figure": round(each.bytes), "unknown": each.unknown}
        for which, each in of_programs(verdict.folder, verdict.rule.claim.metric).items()
    }


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


def write(verdict: Verdict) -> None:
    """Replace the `measured.json` beside the programs, whole or not at all."""
    target = verdict.folder / "measured.json"
    unfinished = verdict.folder / "measured.json.new"
    unfinished.write_text(text(record(verdict)), encoding="utf-8", newline="\n")
    unfinished.replace(target)


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
        "factors": list(FACTORS),
        "fixed": growth(scaling.fixed),
        "metric": metric.value,
    }


def _rounded(metric: Metric, figure: float) -> float:
    return round(figure, 6) if metric is Metric.STEP_TIME else round(figure)
