"""Names of the runtime, and the statements they lead to."""

from __future__ import annotations

import pytest

from tfmemlint.measure.allocations import EAGER, FORWARD, GRADIENT, PIPELINE, Allocation, Origin
from tfmemlint.measure.keras_layers import Layer
from tfmemlint.measure.origins import Made, Origins, Step


def origins() -> Origins:
    return Origins(lambda path, line: None, lambda: 0)


@pytest.mark.parametrize(
    "name",
    [
        "dense/MatMul",
        "StatefulPartitionedCall/dense/MatMul",
        "while/body/_1/while/dense/MatMul",
        "dense/MatMul/_0__cf__0",
        "StatefulPartitionedCall/dense/MatMul/_12__cf__3",
    ],
)
def test_an_operation_is_known_whatever_inlining_and_optimising_have_put_around_its_name(
    name: str,
) -> None:
    known = origins()
    known.add_operation("dense/MatMul", 4)
    assert known.of_operation(name) == 4


@pytest.mark.parametrize("name", ["other/Relu", "dense", "", "dense/MatMul_1"])
def test_an_operation_that_no_graph_has_is_not_known(name: str) -> None:
    known = origins()
    known.add_operation("dense/MatMul", 4)
    assert known.of_operation(name) is None


def test_of_two_operations_the_longer_name_decides() -> None:
    known = origins()
    known.add_operation("MatMul", 4)
    known.add_operation("gradient_tape/dense/MatMul", 9)
    assert known.of_operation("Call/gradient_tape/dense/MatMul") == 9
    assert known.of_operation("Call/MatMul") == 4


def test_a_name_that_two_statements_have_given_leads_to_neither() -> None:
    known = origins()
    known.add_operation("MatMul", 4)
    known.add_operation("MatMul", 9)
    assert known.of_operation("MatMul") is None


def pipeline(*steps: tuple[str, int, float]) -> tuple[Step, ...]:
    """In the order of the program, each with its statement and its room."""
    return tuple(Step(*step) for step in reversed(steps))


def test_of_the_steps_an_element_passes_the_one_with_the_most_room_keeps_it() -> None:
    known = origins()
    known.add_pipeline(
        pipeline(("Range", 1, 0), ("Map", 2, 8), ("Shuffle", 3, 100), ("Prefetch", 4, 1))
    )
    assert known.of_element("Iterator::Root::Prefetch::Shuffle::ParallelMapV2") == 3
    assert known.of_any_element(batch=False) == 3


def test_a_map_that_makes_more_elements_at_a_time_than_are_buffered_keeps_them_itself() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Map", 2, 64), ("Prefetch", 4, 1)))
    assert known.of_element("Iterator::Root::Prefetch::ParallelMapV2") == 2


def test_elements_are_kept_before_the_next_batch_and_batches_behind_it() -> None:
    known = origins()
    known.add_pipeline(
        pipeline(("Range", 1, 0), ("Map", 2, 0), ("Batch", 3, 0), ("Prefetch", 4, 9))
    )
    assert known.of_element("Iterator::Root::Prefetch::BatchV2::Map") == 2
    assert known.of_element("Iterator::Root::Prefetch::BatchV2") == 4
    assert known.of_element("Iterator::Root::Prefetch::ParallelMapAndBatch[0]") == 4
    assert known.of_any_element(batch=True) == 4
    assert known.of_any_element(batch=False) == 2


def test_of_two_steps_of_one_kind_the_depth_tells_which_is_at_work() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Batch", 2, 0), ("Map", 3, 0), ("Batch", 4, 0)))
    assert known.of_element("Iterator::Root::BatchV2") == 4
    assert known.of_element("Iterator::Root::BatchV2::Map::BatchV2") == 2


def test_a_step_that_tensorflow_has_put_in_is_nobodys() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Batch", 2, 0)))
    assert known.of_element("Iterator::Root::Prefetch::BatchV2") == 2


def test_an_iterator_leads_to_the_pipeline_that_is_most_like_it() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Map", 2, 0), ("Batch", 3, 0)))
    known.add_pipeline(pipeline(("TensorSlice", 4, 0), ("Cache", 5, 9), ("Batch", 6, 0)))
    assert known.of_element("Iterator::Root::BatchV2::MemoryCacheImpl::TensorSlice") == 5
    assert known.of_element("Iterator::Root::BatchV2::Map") == 2


def test_an_iterator_that_could_be_one_of_two_pipelines_leads_to_neither() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Batch", 2, 0)))
    known.add_pipeline(pipeline(("Range", 3, 0), ("Batch", 4, 0)))
    assert known.of_element("Iterator::Root::BatchV2::Range") is None
    assert known.of_any_element(batch=True) is None


def test_of_two_pipelines_the_one_that_is_gone_through_decides() -> None:
    known = origins()
    used = pipeline(("Range", 1, 0), ("Map", 2, 0), ("Shuffle", 3, 100), ("Batch", 4, 0))
    other = ("Range", 1, 0), ("Map", 2, 0), ("Shuffle", 5, 100), ("Batch", 6, 0)
    known.add_pipeline(used)
    known.add_pipeline(pipeline(*other))
    assert known.of_any_element(batch=False) is None
    known.add_iterator(used)
    assert known.of_any_element(batch=False) == 3
    assert known.of_any_element(batch=True) == 4


def test_of_two_pipelines_that_are_gone_through_the_one_with_more_room_keeps_most() -> None:
    known = origins()
    for step, room in ((3, 100), (5, 1)):
        used = pipeline(("Range", 1, 0), ("Batch", 2, 0), ("Shuffle", step, room))
        known.add_pipeline(used)
        known.add_iterator(used)
    assert known.of_any_element(batch=True) == 3


def test_an_iterator_that_is_none_of_the_users_leads_nowhere() -> None:
    known = origins()
    assert known.of_element("Iterator::Root::BatchV2") is None
    known.add_pipeline(pipeline(("Range", 1, 0), ("Shuffle", 2, 9)))
    assert known.of_element("Iterator::Root::FlatMap") is None
    assert known.of_any_element(batch=True) is None


def test_a_pipeline_that_is_made_longer_takes_the_place_of_the_shorter_one() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Map", 2, 0)))
    known.add_pipeline(pipeline(("Range", 1, 0), ("Map", 2, 0), ("Cache", 3, 9)))
    assert known.of_any_element(batch=False) == 3


def made(operation: str, during: str) -> Allocation:
    return Allocation(8, 8, 0, operation, "", 1, during)


def test_what_an_iterator_runs_is_its_own_where_the_trace_has_forgotten_the_iterator() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Map", 2, 0), ("Shuffle", 3, 100)))
    known.add_operation("Fill", 5)
    assert known.attribute(made("Fill", ""), 9) == Origin(5, 5)

    known.add_allocation(made("Fill", "Iterator::Root::Shuffle::Map"))
    known.add_allocation(made("Mul", EAGER))
    assert known.attribute(made("Fill", ""), 9) == Origin(3, 5, None, PIPELINE)
    assert known.attribute(made("Fill", EAGER), 9) == Origin(9, 9)
    assert known.attribute(made("Mul", ""), 9) == Origin(9, 9)


def test_an_operation_of_two_statements_is_not_taken_for_what_an_iterator_runs() -> None:
    known = origins()
    known.add_pipeline(pipeline(("Range", 1, 0), ("Map", 2, 0), ("Shuffle", 3, 100)))
    known.add_operation("Mul", 5)
    known.add_operation("Mul", 6)
    known.add_allocation(made("Mul", "Iterator::Root::Shuffle::Map"))
    assert known.attribute(made("Mul", ""), 9) == Origin(9, 9)


@pytest.mark.parametrize(
    "name",
    [
        "gradient_tape/dense/MatMul/MatMul_1",
        "StatefulPartitionedCall/gradient_tape/dense/MatMul",
        "PartitionedCall/gradients/dense/MatMul_grad/MatMul_1",
    ],
)
def test_a_gradient_is_seen_with_the_operation_that_it_is_the_gradient_of(name: str) -> None:
    known = origins()
    layer = Layer("dense", ("toy.py", 3))
    known.add_operation("dense/MatMul", 4, layer)
    known.add_operation("gradient_tape/dense/MatMul/MatMul_1", 9)
    assert known.made(name) == (Made(4, layer), GRADIENT)
    assert known.made("Call/dense/MatMul") == (Made(4, layer), FORWARD)
    assert known.attribute(made(name, ""), 7) == Origin(4, 4, layer, GRADIENT)
