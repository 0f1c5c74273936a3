"""Instructions that a wavefront executes, from a report, against programs that are run iteration by iteration."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import replace

from kprof.document import KernelReport, LoopFacts, LoopPrediction, Prediction
from kprof_analyzers.model.executed import executed_bytes, executed_instructions, executed_matrix

# A loop: its own instructions, its iterations each time that it is entered, and the loops in it.
LOOPS = st.recursive(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.just([])),
    lambda inner: st.tuples(st.integers(0, 5), st.integers(0, 4), st.lists(inner, max_size=3)),
    max_leaves=6,
)


def executed(loop):
    """Instructions of one entry, one iteration after the other."""
    own, iterations, inner = loop
    return sum(own + sum(map(executed, inner)) for _ in range(iterations))


def static(loop):
    """Instructions that stand in a loop and in those in it."""
    own, _, inner = loop
    return own + sum(map(static, inner))


def rows(loops, depth=1, entries=1.0, number=""):
    """Facts and prediction of each loop, outer before inner."""
    for place, loop in enumerate(loops):
        header = f"{number}.{place}"
        # Two kinds of instructions, which count as one.
        counts = {"v_add": static(loop) - static(loop) // 2, "v_mul": static(loop) // 2}
        yield (
            LoopFacts(header=header, depth=depth, instructions=counts),
            LoopPrediction(
                header=header,
                trips=loop[1],
                entries=entries,
                trips_known=True,
                trips_from="",
                cycles_per_iteration=0.0,
            ),
        )
        yield from rows(loop[2], depth + 1, entries * loop[1], header)


def report(facts, model, total):
    """A report with these loops and this number of instructions."""
    return KernelReport(
        name="k",
        arch="gfx942",
        loops=facts,
        instructions={"all": total} if total else {},
        model=Prediction(time_us=None, low_us=None, high_us=None, cycles=None, bound="issue", shares={}, loops=model),
    )


@given(st.lists(LOOPS, max_size=3), st.integers(1, 5))
def test_loops_count_as_often_as_they_are_gone_through(loops, outside):
    facts, model = zip(*rows(loops), strict=True) if loops else ((), ())
    found = executed_instructions(report(list(facts), list(model), outside + sum(map(static, loops))))
    assert found == pytest.approx(outside + sum(map(executed, loops)))


def test_nothing_is_said_of_what_was_not_seen_or_modelled():
    facts, model = zip(*rows([(3, 4, [])]), strict=True)
    known = report(list(facts), list(model), 10)
    assert executed_instructions(known) == 7 + 4 * 3
    assert executed_instructions(report(list(facts), [], 10)) is None
    assert executed_instructions(report(list(facts), list(model), 0)) is None
    without = KernelReport(name="k", arch="gfx942", loops=list(facts), instructions={"all": 10})
    assert without.model is UNSET
    assert executed_instructions(without) is None


def test_bytes_and_matrix_instructions_are_counted_as_often_as_they_are_executed():
    """Ten iterations with a load of 16 bytes and two products, and a store of 4 bytes outside; LDS is none."""
    loop = {"global_load_dwordx4": 1, "v_mfma_f32_16x16x16_f16": 2, "ds_read_b128": 3, "s_nop": 1}
    ((facts_, predicted),) = rows([(0, 10, [])])
    kernel = replace(
        report([replace(facts_, instructions=loop)], [predicted], 1),
        instructions={**loop, "buffer_store_dword": 1, "scratch_load_dword": 5},
    )
    assert executed_instructions(kernel) == 10 * 7 + 6
    assert executed_bytes(kernel) == 10 * 16 + 4
    assert executed_matrix(kernel) == 10 * 2
