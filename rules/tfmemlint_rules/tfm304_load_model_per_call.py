"""The same model is loaded again and again.

## What it finds
`load_model(path)`, `tf.saved_model.load(path)`, `hub.load(url)`, `TFBertModel.from_pretrained(x)`
or a network of `keras.applications`, `VGG16()`, in a loop, or in a function that a loop calls,
where the path is the same in every round. Also in a function that a web server runs for every
request, `@app.route("/predict")`, or that one calls.

## Why it costs memory
Each time the file is read, and a model built and traced anew. Models are made of objects that hold
each other: those of the rounds before wait for the collector, several at once.

## What to do instead
Load the model once, before the loop, or where the program starts.

## Fix safety
Unsafe: what a round changes of the model, by training it, stays for the next. Offered where the
loop stands around the call itself.

## When to ignore it
When another program writes the file again between rounds. The rule is silent by itself where the
path is given to something else in the loop, or to a `ModelCheckpoint`, where it depends on the
round or on what a function is given, where each round trains what it has loaded (see TFM301), where
models are kept beside each other, under a condition that may come out otherwise in another round,
such as `if self.model is None`, or for a request that asks more than that, and in functions around
which it sees neither a loop nor a server.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfmemlint import Applicability, Claim, Cost, Diagnostic, File, Fix, Law, Metric, Rule, edits
from tfmemlint_rules._analyses.loaded_per_request import LoadedPerRequest
from tfmemlint_rules._analyses.same_each_round import InEachRound, SameEachRound


def check(file: File) -> Iterator[Diagnostic]:
    for found in file.tf.of(SameEachRound).loaded:
        loop, called = file.named(found.loop.node), file.named(found.call)
        yield Diagnostic(
            file.span(found.call),
            f"`{called}` loads the same model in every round of `{loop}`",
            _fix(file, found),
            Cost(f"`{called}`", law=Law.STEPS),
        )
    for served in file.tf.of(LoadedPerRequest).all:
        called, handler = file.named(served.call), getattr(served.handler, "name", "")
        yield Diagnostic(
            file.span(served.call),
            f"`{called}` loads the same model for every request that `{handler}` serves",
            None,
            Cost(f"`{called}`", law=Law.STEPS),
        )


def _fix(file: File, found: InEachRound) -> Fix | None:
    place = file.tf.of(SameEachRound).liftable(found)
    moved = edits.lifted(file, *place) if place and file.concrete(place[0]) else None
    return None if moved is None else Fix("Load it once", moved, Applicability.UNSAFE)


RULE = Rule(
    code="TFM304",
    name="load-model-per-call",
    claim=Claim(
        Metric.DEVICE_PEAK,
        at_most=0.2,
        because="one model is in memory, and none that waits for the collector",
    ),
    triggers=(
        "applications load load_model from_preset from_pretrained KerasLayer",
        "for get post put route while",
    ),
    check=check,
)
