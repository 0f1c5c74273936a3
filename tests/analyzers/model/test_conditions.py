"""What a launch finds in the caches under each condition, and what events add: against sums done by hand."""

from dataclasses import replace

import pytest

import kprof
from kprof.condition import CONDITIONS, FLUSHED, FLUSHED_DIRTY, GRAPH, WARM
from kprof_analyzers.model import predict
from kprof_analyzers.model.caches_before import events_us, found, launch_us, written_back
from kprof_analyzers.model.explain import explain
from kprof_analyzers.model.kernel import build, launch_cycles, simulate
from kprof_analyzers.model.passing import Passing
from kprof_analyzers.model.traffic import Sharing

LOADS = [f"global_load_dwordx4 v[{4 * n}:{4 * n + 3}], v[80:81], off" for n in range(16)]
COLD = Sharing(0.5, 0.25, 100.0, 0.0, None, known=True)


def test_the_first_condition_is_the_default():
    assert next(iter(CONDITIONS)) == WARM.name == "warm"
    assert list(CONDITIONS) == ["warm", "flushed", "flushed-dirty", "graph"]


def test_a_launch_after_its_like_finds_its_data_in_the_infinity_cache(gpu):
    machine = gpu(l2=0.0, mall=10.0)
    again = found(replace(WARM, between=10.0), COLD, 8, machine)
    assert (again.beyond_l2, again.beyond_mall, again.stored_beyond) == (0.5, 0, 0)
    assert found(replace(WARM, between=11.0), COLD, 8, machine) == COLD
    assert found(replace(GRAPH, between=10.0), COLD, 8, machine) == again


def test_what_lies_between_two_launches_is_what_the_launch_touches(gpu):
    """100 different bytes, and 8 workgroups that store 10 each."""
    mine = replace(COLD, footprint=100.0, stored=10.0)
    assert found(WARM, mine, 8, gpu(l2=0.0, mall=180.0)).beyond_mall == 0
    assert found(WARM, mine, 8, gpu(l2=0.0, mall=179.0)) == mine


def test_nothing_is_found_where_it_is_not_known_what_is_touched(gpu):
    """Without TTGIR nothing is; with it no more different bytes than are loaded: 800."""
    unknown = replace(COLD, known=False)
    assert found(WARM, unknown, 8, gpu(l2=1e9, mall=1e9)) == unknown
    counted = replace(unknown, loads=(2, 1))
    assert found(WARM, counted, 8, gpu(l2=0.0, mall=800.0)).beyond_mall == 0
    assert found(WARM, counted, 8, gpu(l2=0.0, mall=799.0)) == counted


def test_no_more_is_touched_than_the_tensors_hold(gpu):
    """800 bytes are loaded, of tensors of 90; what is known to lie between two launches counts before that."""
    unknown = replace(COLD, known=False)
    for shared in (unknown, replace(unknown, loads=(2, 1)), replace(COLD, footprint=100.0)):
        assert found(WARM, shared, 8, gpu(l2=0.0, mall=90.0), tensor_bytes=90).beyond_mall == 0
        assert found(WARM, shared, 8, gpu(l2=0.0, mall=89.0), tensor_bytes=90) == shared
    small = replace(COLD, footprint=50.0)
    assert found(WARM, small, 8, gpu(l2=0.0, mall=50.0), tensor_bytes=90).beyond_mall == 0
    assert found(replace(WARM, between=91.0), COLD, 8, gpu(l2=0.0, mall=90.0), tensor_bytes=10) == COLD


@pytest.mark.parametrize("condition", [FLUSHED, FLUSHED_DIRTY])
def test_a_flush_leaves_nothing_to_be_found(gpu, condition):
    assert found(replace(condition, between=10.0), COLD, 8, gpu(l2=1e9, mall=1e9)) == COLD


@pytest.mark.parametrize(("l2", "beyond"), [(60.0, 0.0), (59.0, 0.5)])
def test_an_l2_keeps_what_its_workgroups_load_and_store_where_all_of_it_fits(gpu, l2, beyond):
    """Half of 100 bytes come from beyond L2, 10 are stored, and an XCD has one of eight workgroups."""
    cold, again = replace(COLD, stored=10.0), replace(WARM, between=10.0)
    assert found(again, cold, 8, gpu(l2=l2, mall=10.0)).beyond_l2 == beyond
    assert found(again, replace(cold, known=False), 8, gpu(l2=l2, mall=10.0)).beyond_l2 == 0.5
    assert found(replace(again, written=True), cold, 8, gpu(l2=l2, mall=10.0)).beyond_l2 == 0.5


def test_what_takes_no_line_is_not_found_and_displaces_nothing(gpu):
    """Half of 100 different bytes and three quarters of the 8 * 10 that are stored take lines: 50 and 60."""
    mine, streamed = replace(COLD, footprint=100.0, stored=10.0), Passing(0.5, 0.25)
    again = found(WARM, mine, 8, gpu(l2=0.0, mall=110.0), streamed)
    assert (again.beyond_l2, again.beyond_mall, again.stored_beyond) == (0.5, 0.5 * 0.25, 0.25)
    assert found(WARM, mine, 8, gpu(l2=0.0, mall=109.0), streamed) == mine
    # In an L2 that holds 60 bytes of a die what took a line is found, too.
    near = found(WARM, mine, 8, gpu(l2=60.0, mall=110.0), streamed)
    assert (near.beyond_l2, near.beyond_mall) == (0.5 * 0.5, 0.5 * 0.25)
    # More lines of the Infinity Cache than of L2 are not to be missed.
    far = found(WARM, replace(mine, beyond_l2=0.1), 8, gpu(l2=0.0, mall=110.0), streamed)
    assert far.beyond_mall == 0.1


@pytest.mark.parametrize(("l2", "beyond"), [(25.0, 0.0), (24.0, 0.5)])
def test_different_bytes_of_a_die_count_where_they_are_known(gpu, l2, beyond):
    """15 that its workgroups load however often, and the 10 that one of eight workgroups stores."""
    again, mine = replace(WARM, between=10.0), replace(COLD, stored=10.0, on_xcd=15.0)
    assert found(again, mine, 8, gpu(l2=l2, mall=10.0)).beyond_l2 == beyond


def test_an_l2_has_none_of_what_another_kernel_wrote(gpu):
    """However little that is."""
    again, mine = replace(WARM, between=10.0), replace(COLD, on_xcd=1.0)
    assert found(again, mine, 8, gpu(l2=1.0, mall=10.0)).beyond_l2 == 0
    assert found(replace(again, written=True), mine, 8, gpu(l2=1.0, mall=10.0)).beyond_l2 == 0.5


def test_written_lines_leave_one_for_one_until_all_are_gone(gpu):
    """0.15 us for a megabyte of the first 256 MiB was measured on an MI350X: a byte out for each that comes in."""
    machine = gpu(l2=4.0, mall=256.0)
    assert [written_back(FLUSHED_DIRTY, machine, moved) for moved in (0.0, 100.0, 256.0, 1000.0)] == [0, 100, 256, 256]
    assert written_back(FLUSHED, machine, 100.0) == 0
    assert written_back(FLUSHED_DIRTY, gpu(l2=4.0, mall=None, xcds=8), 1000.0) == 32


@pytest.mark.parametrize("product", ["MI300X", "MI355X"])
def test_each_condition_adds_its_share(kernel, product):
    """A stream of unknown addresses, so that the caches keep nothing: what remains is what the way of timing adds."""
    facts = kernel([*LOADS, "s_waitcnt vmcnt(0)"], grid=(304 * 64,), product=product)
    times = {name: predict(replace(facts, condition=one)) for name, one in CONDITIONS.items()}
    warm = times["warm"].time_us
    machine = build(facts).machine

    assert {name: one.condition for name, one in times.items()} == {name: name for name in CONDITIONS}
    assert times["graph"].time_us == pytest.approx(warm + 1.55 - 1.3)
    assert times["flushed"].time_us == pytest.approx(warm + 4.8)
    assert (times["warm"].events_us, times["flushed"].events_us) == (0, 4.8)
    assert launch_us(GRAPH, machine) == 1.55
    assert events_us(WARM, machine) == 0


@pytest.mark.parametrize(("product", "least"), [("MI355X", 4.8 + 3.1), ("MI300X", 4.8)])
def test_events_wait_for_a_short_launch(kernel, product, least):
    """On an MI350X a launch of nearly nothing takes 7.9 us between events; elsewhere it is not known."""
    facts = kernel(["v_add_u32_e32 v0, v1, v2"], grid=(1,), product=product)
    warm, flushed = (predict(replace(facts, condition=condition)) for condition in (WARM, FLUSHED))
    assert warm.time_us < 1.5
    assert flushed.time_us == pytest.approx(max(least, warm.time_us + 4.8), abs=0.01)
    assert flushed.events_us == 4.8
    assert flushed.low_us <= flushed.time_us <= flushed.high_us


def test_lines_that_a_flush_wrote_cost_what_memory_takes_for_them(kernel):
    """As many bytes as the launch moves, at the bandwidth that memory sustains, on top of the time without them."""
    facts = kernel([*LOADS, "s_waitcnt vmcnt(0)"], grid=(304 * 64,))
    model = build(replace(facts, condition=FLUSHED_DIRTY))
    model = replace(model, sharing=replace(model.sharing, loaded=10_000.0))
    run = simulate(model, model.where.resident)
    cycles = launch_cycles(model, run)
    dirty = explain(model, run, cycles, [])
    clean = explain(replace(model, facts=replace(facts, condition=FLUSHED)), run, cycles, [])

    moved = 10_000 * 304 * 64
    assert dirty.traffic["written_back"] == moved
    assert dirty.time_us - clean.time_us == pytest.approx(moved / 4e6, rel=1e-3)

    # With as many cycles of arithmetic as both take, the lines may have been written back behind it.
    busy = 3 * moved / 4e6 * dirty.clock_mhz
    beside, without = (
        explain(replace(model, facts=replace(facts, condition=one)), run, busy, []) for one in (FLUSHED_DIRTY, FLUSHED)
    )
    assert beside.low_us == pytest.approx(without.low_us, rel=1e-3)
    assert beside.time_us - without.time_us == pytest.approx(moved / 4e6, rel=1e-3)


@pytest.mark.triton
@pytest.mark.parametrize("condition", ["flushed", "warm"])
def test_events_stand_around_a_call_of_several_launches_once(condition):
    """The bundled backward of attention is several launches."""
    found = kprof.analyze("attention_forward_backward", arch="MI355X", condition=condition, try_cures=False)
    (job,) = found.document.jobs
    events = [kernel.model.events_us for kernel in found.kernels]
    assert len(job.launches) > 1
    assert job.time_us == pytest.approx(sum(kernel.model.time_us for kernel in found.kernels) - sum(events[1:]))
    assert events == [4.8 if condition == "flushed" else 0.0] * len(events)
