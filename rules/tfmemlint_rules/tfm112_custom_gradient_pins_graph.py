"""Models with custom gradients are made again and again, and none is ever freed.

## What it finds
A Keras model that a loop makes anew, has traced (`predict`, `evaluate`, `tf.function(model)`) and
drops, and that has a custom gradient in it: the activation `silu` or `swish`, a
`@tf.custom_gradient` of the module, `tf.recompute_grad`, `tf.grad_pass_through`, `keras.remat`, or
EfficientNet, whose activations are swish. Also a `tf.function` with one in it that is made in a
loop together with its model.

## Why it costs memory
Where a function with a custom gradient is traced, TensorFlow registers its gradient under a name of
its own in a table of the process, and takes nothing out of it again. The gradient refers to tensors
of the graph, the graph to the weights it captures: host and device keep both. `del`, `gc.collect()`
and `clear_session()` do not help. With `relu` or `gelu` in place of `silu` the same loop keeps
nothing. A function that is traced once registers once. Eager code registers nothing, though Keras
traces layers of one's own once while it builds them.

This is so in TensorFlow 2.21, where it was measured. There an optimizer's step that is traced has
its model kept for good as well, whatever the activations are: of loops that train the rule says
nothing.

The code tells less than was measured: of the first program it tells what a model weighs, 258 KB a
step. `tfmemlint measure` finds as much after 40 rounds, 257 KB for each of them; measured step by
step it is the large kernel twice, 512 KB.

## What to do instead
Make the model once, before the loop, and give it each round's weights with `load_weights` or
`set_weights`. Where models have to differ, take an activation without a custom gradient
(`x * tf.sigmoid(x)` computes what `silu` does), or run each in a process of its own.

## Fix safety
Unsafe: layers get other names and random weights are drawn once, not per round, so that whatever is
drawn next is other numbers. Offered where every round replaces all the weights before they are used
and the model does not depend on the loop.

## When to ignore it
When the rounds are few or the process is to end soon. The rule is silent in tests, for up to eight
rounds (two, of EfficientNet), for models that are kept, made under a condition or run eagerly, and
where TFM102 speaks of the function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfmemlint import (
    Applicability,
    Claim,
    Cost,
    Diagnostic,
    File,
    Fix,
    Law,
    Metric,
    Rule,
    costs,
    edits,
)
from tfmemlint.facts.flow.remade_models import Anew
from tfmemlint.facts.sizes.amounts import Amount
from tfmemlint_rules._analyses.custom_gradients import CustomGradients

WEIGHTS = Amount(("the weights of a model",), of_bytes=True)
FEW = 8
"""Small models that are well worth no word, as many as a comparison has variants."""


def check(file: File) -> Iterator[Diagnostic]:
    if not file.tf.of(CustomGradients).any or file.tf.tracing.is_off:
        return
    for model in file.tf.remade_models.models:
        assert isinstance(model.made, ast.Call)
        pin = file.tf.of(CustomGradients).of_model(model.made, _around(file, model))
        if pin is not None and _is_many(file, model, pin):
            yield Diagnostic(
                file.span(model.made),
                f"`{ast.unparse(model.made.func)}` makes another model in every round of "
                f"`{file.named(model.loop.node)}`, and the custom gradient of "
                f"`{_named(file, pin)}` keeps each one in memory",
                _fix(file, model, model.made),
                _cost(file, model),
            )
    yield from _functions(file)


def _functions(file: File) -> Iterator[Diagnostic]:
    """Traced functions that belong to a model of the same round: others are TFM102's."""
    for function in file.tf.remade_models.functions:
        pin = file.tf.of(CustomGradients).of_function(function.made)
        if pin is None or not _is_many(file, function, pin):
            continue
        if all(remake.made is not function.made for remake in file.tf.remade_functions.all):
            made = function.made
            at, called = made, "`tf.function`"
            if not isinstance(made, ast.Call):
                wraps = file.tf.tracers.makes_tf_function
                at = next(filter(wraps, getattr(made, "decorator_list", ())))
                called = f"`{getattr(made, 'name', '')}`"
            yield Diagnostic(
                file.span(at),
                f"{called} is traced anew in every round of `{file.named(function.loop.node)}`, "
                f"and the custom gradient of `{_named(file, pin)}` keeps each graph in memory",
                cost=_cost(file, function),
            )


def _cost(file: File, anew: Anew) -> Cost:
    """The weights of the models of all rounds, and of one."""
    one = file.tf.models.weights_of(anew.made) or WEIGHTS
    rounds = file.tf.numbers.rounds(anew.loop.node)
    return costs.cost(rounds.times(one)._replace(at_most=None), Law.STEPS, one)


def _is_many(file: File, anew: Anew, pin: ast.expr) -> bool:
    return anew.rounds is None or anew.rounds > FEW or file.tf.of(CustomGradients).is_large(pin)


def _around(file: File, model: Anew) -> ast.AST:
    """The code that makes the model: the loop, or the function that the loop calls."""
    if file.tf.tree.inside(model.made, model.loop.node):
        return file.tf.loops.extent(model.loop)
    return file.tf.tree.function(model.made) or file.tf.tree.module


def _named(file: File, pin: ast.expr) -> str:
    """What has the gradient; a word alone says too little: `activation='silu'`."""
    above = file.tf.tree.parent(pin)
    if (
        isinstance(above, (ast.keyword, ast.Call))
        and isinstance(pin, (ast.Constant, ast.Name))
        and getattr(above, "func", None) is not pin
    ):
        return file.named(above)
    return file.named(pin)


def _fix(file: File, model: Anew, maker: ast.Call) -> Fix | None:
    """The model made above the loop, if each round gives it other weights and nothing else."""
    tree, loop = file.tf.tree, model.loop
    statement, anchor = tree.statement(maker), tree.statement(loop.node)
    if not isinstance(anchor, (ast.For, ast.While)) or statement not in anchor.body:
        return None
    if not isinstance(statement, ast.Assign) or statement.value is not maker:
        return None
    name = getattr(statement.targets[0], "id", None)
    if name is None or len(file.tf.bindings.of(tree.scope(statement), name)) != 1:
        return None
    if not file.tf.remade_models.set_first(model) or not file.tf.remade_models.same_before(model):
        return None
    moved = edits.lifted(file, statement, anchor)
    return moved and Fix("Make the model before the loop", moved, Applicability.UNSAFE)


RULE = Rule(
    code="TFM112",
    name="custom-gradient-pins-graph",
    claim=Claim(
        Metric.DEVICE_GROWTH, at_most=0.02, because="one model is registered, and not one per round"
    ),
    triggers=(
        "EfficientNetB0 EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 "
        "EfficientNetB5 EfficientNetB6 EfficientNetB7 EfficientNetV2B0 EfficientNetV2B1 "
        "EfficientNetV2B2 EfficientNetV2B3 EfficientNetV2L EfficientNetV2M EfficientNetV2S "
        "custom_gradient grad_pass_through recompute_grad remat silu swish",
        "evaluate evaluate_generator function predict predict_generator predict_on_batch "
        "test_on_batch",
    ),
    check=check,
)
