"""The search with an executor that answers at once: order, ends, resuming, counting."""

import hashlib
import random
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kprof.errors import KprofError

pytestmark = pytest.mark.triton

SHAPE = {"M": 512, "N": 512, "K": 512}
KNOBS = {"BLOCK_M": (32, 64, 128), "BLOCK_N": (64, 128), "BLOCK_K": (32, 64), "SPLIT_K": (1, 2), "kpack": (1, 2)}


def make(
    tmp_path: Path,
    executor: Any,
    knobs: Mapping[str, Any] = KNOBS,
    shapes: tuple[Mapping[str, Any], ...] = (SHAPE,),
    **settings: Any,
) -> Any:
    """A search over gemm."""
    from kprof.hardware.machine import find_product, load
    from kprof.targets.library import load as load_kernel
    from kprof.tuning.journal import TuningJournal
    from kprof.tuning.problems import problems
    from kprof.tuning.search import Search
    from kprof.tuning.space import Space
    from kprof.tuning.subject import KernelSubject
    from kprof.tuning.work import Judge

    arch = settings.pop("arch", "gfx942")
    kernel = load_kernel("gemm")
    subject = KernelSubject(kernel, load(arch), find_product("MI300X"), tuple(problems(kernel, arch, shapes)))
    space = Space("a test", dict(knobs))
    journal = TuningJournal(tmp_path / "search.jsonl")
    return Search(subject, space, judge=Judge("none:none", "1"), executor=executor, journal=journal, **settings)


def by_tile(config: Mapping[str, Any]) -> float:
    """128 x 128 is the fastest; the reduction takes 5."""
    if config["launch"] == "gemm::reduce":
        return 5.0
    return 1000 - config["BLOCK_M"] - config["BLOCK_N"] - config["BLOCK_K"] / 8 - config.get("kpack", 1)


def test_finds_the_best_and_counts(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """All legal configurations are answered; split-K pays for its reduction."""
    found = make(tmp_path, fake(by_tile)).run()

    best = found.ranked[0][0]
    assert (best.config["BLOCK_M"], best.config["BLOCK_N"], best.config["BLOCK_K"]) == (128, 128, 64)
    assert best.config["SPLIT_K"] == 1
    assert found.progress.done == found.progress.total == 48
    assert (found.progress.compiled, found.progress.uncompiled) == (48, 0)
    assert found.progress.compiles == 48 + 1, "the reduction, too"
    assert sum(len(r) for r in found.ranked) == 48
    split = next(one for one in found.ranked[0] if one.config["SPLIT_K"] == 2)
    assert split.parts == {"gemm::reduce": 5.0}
    assert found.ended == "complete"
    assert found.own[0] is not None


def test_the_reduction_is_compiled_once(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Configurations share the compiles that are the same."""
    executor = fake(by_tile)
    make(tmp_path, executor).run()

    assert len(executor.done) == len(set(executor.done))
    assert len(executor.done) == 48 + 1, "48 kernels, one of them the kernel's own configuration, and one reduction"


def test_the_own_configuration_comes_first_and_is_ranked(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """It is compared with, and recommended when nothing in the space is better."""
    own_tile = (64, 128, 64)

    def rule(config: Mapping[str, Any]) -> float:
        tile = tuple(config.get(name) for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
        return 10.0 if tile == own_tile and config["num_warps"] == 4 else 100.0 + config.get("kpack", 0)

    executor = fake(rule)
    search = make(tmp_path, executor, {**KNOBS, "SPLIT_K": (1, 4)}, ({"M": 64, "N": 512, "K": 2048},))
    found = search.run()

    assert found.own[0] is not None
    assert tuple(found.own[0].config[n] for n in ("BLOCK_M", "BLOCK_N", "BLOCK_K")) == own_tile
    assert found.ranked[0][0].time_us == found.own[0].time_us or found.ranked[0][0].time_us < found.own[0].time_us
    assert found.own[0].config in [one.config for one in found.ranked[0]]


def test_an_own_configuration_outside_of_the_space_is_not_counted(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """It is compiled for comparison; the configurations looked at are those of the space."""
    progress: list[tuple[int, int]] = []
    search = make(
        tmp_path,
        fake(lambda config: 100.0 - config["BLOCK_M"] / 8),
        {"BLOCK_M": (16, 32), "BLOCK_N": (16, 32), "BLOCK_K": (32,), "SPLIT_K": (1,)},
        report=lambda state: progress.append((state.done, state.compiled + state.uncompiled)),
    )
    found = search.run()

    end = found.progress
    assert (end.done, end.compiled, end.uncompiled) == (end.total, end.total, 0)
    assert end.compiles == end.total + 1
    assert progress[-1] == (end.total, end.total)


def test_goes_on_where_it_stopped(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Ctrl-C shows what is known; a second run asks for the rest only, and the end is the same."""
    asked = 0

    def interrupted(config: Mapping[str, Any]) -> Any:
        nonlocal asked
        asked += 1
        return KeyboardInterrupt() if asked > 20 else by_tile(config)

    first = fake(interrupted)
    stopped = make(tmp_path, first).run()
    second = fake(by_tile)
    found = make(tmp_path, second).run()

    assert stopped.ended == "interrupted"
    assert 0 < stopped.progress.done < 48
    assert stopped.ranked[0]
    assert set(first.done[:20]).isdisjoint(second.done)
    assert found.progress.done == 48
    assert found.progress.resumed == found.progress.uncompiled == stopped.progress.done
    assert found.progress.compiled == 48 - found.progress.resumed
    assert found.ranked[0][0].config == make(tmp_path / "other", fake(by_tile)).run().ranked[0][0].config


def test_the_budget_ends_it(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """No task is begun after the budget; what came before is shown."""
    import time

    def slow(config: Mapping[str, Any]) -> float:
        time.sleep(0.02)
        return by_tile(config)

    found = make(tmp_path, fake(slow), budget=0.2).run()

    assert found.ended == "budget"
    assert 1 <= found.progress.done < 40
    assert found.progress.seconds < 2


def test_failures_are_counted_by_reason(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Crashes, LDS, the compiler's no: each is a reason, and none ends the search."""
    from kprof.tuning.work import TaskResult

    def rule(config: Mapping[str, Any]) -> Any:
        if config["launch"] != "gemm":
            return 1.0
        if config["BLOCK_M"] == 32:
            return TaskResult("", "crashed", reason="crashed: signal 6 (SIGABRT) while making llir")
        if config["BLOCK_N"] == 64:
            return TaskResult("", "unlaunchable", reason="needs 90,000 bytes of LDS, a workgroup can have 65,536")
        if config["BLOCK_K"] == 32:
            return TaskResult("", "failed", reason="does not compile: shape 64 is wrong")
        return by_tile(config)

    found = make(tmp_path, fake(rule)).run()

    assert found.failed == {
        "crashed: signal 6 (SIGABRT)": 16,
        "out of LDS": 16,
        "does not compile: shape … is wrong": 8,
    }
    assert len(found.ranked[0]) == 8
    assert found.progress.done == 48


def test_one_program_is_shown_once(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Configurations with the same code and time are one row with the others as alike."""
    from kprof.tuning.work import TaskResult

    def rule(config: Mapping[str, Any]) -> Any:
        time = 900.0 - config.get("BLOCK_M", 0)
        return TaskResult("", "ok", isa=f"{config['BLOCK_M']}", time_us=time, low_us=time, high_us=time, bound="matrix")

    found = make(tmp_path, fake(rule), {**KNOBS, "SPLIT_K": (1,)}).run()

    assert [one.config["BLOCK_M"] for one in found.ranked[0]] == [128, 64, 32]
    assert [len(one.alike) for one in found.ranked[0]] == [7, 7, 7]
    assert found.duplicates == 21


def test_several_problems_share_a_search(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Each gets its ranking; a tile larger than the problem is not tried where a smaller one covers it."""
    shapes = (SHAPE, {"M": 16, "N": 512, "K": 512})
    found = make(tmp_path, fake(by_tile), shapes=shapes).run()

    assert {one.config["BLOCK_M"] for one in found.ranked[0]} == {32, 64, 128}
    assert {one.config["BLOCK_M"] for one in found.ranked[1]} == {32}
    assert found.pruned["BLOCK_M is larger than the problem, and a smaller value covers it"] == 32


@pytest.mark.parametrize(
    ("knobs", "arch", "message"),
    [
        ({"num_warps": (3, 64)}, "gfx942", "none of the 2 configurations of a test is legal"),
        ({"matrix_instr_nonkdim": (8,)}, "gfx942", "there is no matrix instruction of size 8 x 8"),
        ({"BLOCK_M": (8,), "BLOCK_N": (8,)}, "gfx942", "the kernel: tl.dot needs tiles of at least …"),
        ({"kpack": (2,)}, "gfx950", "kpack is 1 on gfx950"),
    ],
)
def test_nothing_legal(
    tmp_path: Path, fake: Callable[..., Any], knobs: Mapping[str, Any], arch: str, message: str
) -> None:
    """A space without a legal configuration is told with the reasons, before anything is compiled."""
    executor = fake(by_tile)

    with pytest.raises(KprofError, match=message):
        make(tmp_path, executor, knobs, arch=arch).run()
    assert executor.done == []


def test_progress_adds_up(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Done never passes the total, the rate and the time left are there."""
    from kprof.reporters.tune_progress import line

    seen: list[tuple[int, int]] = []
    lines: list[str] = []

    def note(progress: Any) -> None:
        seen.append((progress.done, progress.total))
        lines.append(line(progress))

    make(tmp_path, fake(by_tile), budget=500.0, report=note).run()

    assert [done for done, _ in seen] == list(range(1, 49))
    assert all(done <= total for done, total in seen)
    assert "48 of 48" in lines[-1]
    assert "compiles/s" in lines[-1]
    assert "left" in lines[-1]
    assert "best 734 µs" in lines[-1]


def test_the_whole_gemm_space_is_counted_quickly(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """900,000 combinations are counted without looking at each, and the first ones are sensible."""
    from kprof.targets.library import load

    asked = 0

    def rule(config: Mapping[str, Any]) -> Any:
        nonlocal asked
        asked += 1
        return KeyboardInterrupt() if asked > 30 else by_tile(config)

    space = {name: tuple(values) for name, values in load("gemm").space.items()}
    executor = fake(rule)
    found = make(tmp_path, executor, space, ({"M": 8192, "N": 8192, "K": 8192},)).run()

    assert found.progress.total + sum(found.pruned.values()) == 900_000
    assert max(one.config["BLOCK_M"] for one in found.ranked[0]) == 256
    assert all(one.config["BLOCK_M"] * one.config["BLOCK_N"] >= 128 * 64 for one in found.ranked[0][:5])


def test_a_kernel_whose_own_functions_fail(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """A broken ``legal`` is one clear sentence; a broken ``launch`` is a reason that is counted."""
    import dataclasses

    def broken(*_: Any) -> Any:
        raise KeyError("BLOCK_Q")

    search = make(tmp_path, fake(by_tile))
    kernel = search._subject.kernel
    search._subject = dataclasses.replace(search._subject, kernel=dataclasses.replace(kernel, legal=broken))
    with pytest.raises(KprofError, match="legal of gemm fails: KeyError: 'BLOCK_Q'"):
        search.run()

    search = make(tmp_path, fake(by_tile))
    described = dataclasses.replace(kernel, launch=broken, flops=broken)
    search._subject = dataclasses.replace(search._subject, kernel=described)
    found = search.run()
    assert found.ranked == [[]]
    assert found.failed == {"the launch of gemm fails: KeyError: 'BLOCK_Q'": 48}
    assert found.example == "the launch of gemm fails: KeyError: 'BLOCK_Q'"


def test_a_full_disk_does_not_end_the_search(
    tmp_path: Path, fake: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What comes after is not kept, is still ranked, and it is said."""
    from kprof.tuning.journal import TuningJournal

    add, kept = TuningJournal.add, []

    def full(self: TuningJournal, answer: Any) -> None:
        if len(kept) == 3:
            raise KprofError("cannot keep the search: No space left on device")
        kept.append(answer)
        add(self, answer)

    monkeypatch.setattr(TuningJournal, "add", full)

    found = make(tmp_path, fake(by_tile)).run()

    assert found.progress.done == found.progress.total == 48
    assert "No space left" in found.not_kept
    assert len(TuningJournal(tmp_path / "search.jsonl").known()) == 3


def test_tiles_are_counted(tmp_path: Path, fake: Callable[..., Any]) -> None:
    """Blocks and wavefronts make a tile; split and kpack do not."""
    found = make(tmp_path, fake(by_tile)).run()

    assert (found.progress.tiles, found.progress.tiles_seen) == (12, 12)


@pytest.mark.parametrize("workers", [2, 3, 7])
def test_equal_times_are_in_the_same_order_however_many_compile_at_a_time(
    tmp_path: Path, fake: Callable[..., Any], workers: int
) -> None:
    """Times that tie, and programs that are alike: with -j 1 and with -j 2 and more the ranking is one."""

    def coarse(config: Mapping[str, Any]) -> float:
        # Whichever configuration asks for the reduction first.
        return 5.0 if config["launch"] != "gemm" else 100.0 if config.get("BLOCK_M") == 128 else 200.0

    first = make(tmp_path / "one", fake(coarse)).run()
    other = make(tmp_path / "many", fake(coarse, workers)).run()

    assert first.ranked[0][0].time_us == first.ranked[0][1].time_us
    assert [(one.config, one.alike) for one in first.ranked[0]] == [(one.config, one.alike) for one in other.ranked[0]]


def uneven(config: Mapping[str, Any]) -> Any:
    """A time with hills and valleys, and a few ends of other kinds, the same for the same configuration."""
    from kprof.tuning.work import TaskResult

    if config["launch"] != "gemm":
        return 5.0
    text = repr(sorted(config.items(), key=str))
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")
    if number % 7 == 0:
        return TaskResult("", "failed", reason=f"does not compile: {'ab'[number // 7 % 2]}")
    return 1000.0 - config["BLOCK_M"] - config["BLOCK_N"] + number % 5 * 40


def climbing(base: Mapping[str, Any]) -> Any:
    """A search around a configuration that goes on from what is fast."""
    from kprof.tuning.neighbourhood import Neighbourhood

    def changes(config: Mapping[str, Any]) -> Any:
        return [{name: value} for name, values in KNOBS.items() for value in values if config[name] != value]

    return Neighbourhood({**base, "kpack": 1}, changes, most=30)


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(workers=st.sampled_from([2, 4]), seed=st.integers(0, 999), known=st.integers(0, 25), climbs=st.booleans())
def test_what_is_looked_at_does_not_hang_on_the_order_in_which_compiles_end(
    fake: Callable[..., Any], workers: int, seed: int, known: int, climbs: bool
) -> None:
    """Nor on how many there are at a time, nor on what an earlier search knows: same trials, same ranking."""
    order = {"order": climbing} if climbs else {}
    with tempfile.TemporaryDirectory() as folder:
        alone = fake(uneven)
        first = make(Path(folder) / "one", alone, in_flight=4, **order).run()
        many = fake(uneven, workers, seed)
        other = make(Path(folder) / "many", many, in_flight=4, **order).run()
        journal = Path(folder, "one", "search.jsonl").read_text().splitlines(keepends=True)
        Path(folder, "warm").mkdir()
        random.Random(seed).shuffle(journal)
        Path(folder, "warm", "search.jsonl").write_text("".join(journal[:known]))
        warm = make(Path(folder) / "warm", fake(uneven, workers, seed), in_flight=4, **order).run()

    assert set(many.done) == set(alone.done)
    after, before = warm.progress, first.progress
    assert after.resumed + after.compiled + after.shared == before.compiled + before.shared
    for found in (other, warm):
        assert [(one.config, one.alike) for one in found.ranked[0]] == [(o.config, o.alike) for o in first.ranked[0]]
        assert (found.progress.done, found.progress.derived) == (before.done, before.derived)
        assert found.failed == first.failed
        assert (found.example, found.own, found.inert) == (first.example, first.own, first.inert)


@pytest.mark.parametrize("in_flight", [1, 3, 24])
def test_workers_have_work_as_long_as_the_choice_may_look_ahead(
    tmp_path: Path, fake: Callable[..., Any], in_flight: int
) -> None:
    """As many tasks are under way as there are workers, and no more than may be in flight."""
    executor = fake(by_tile, workers=5)
    under_way: list[int] = []
    answer = executor._answer

    def counting(task: Any) -> Any:
        under_way.append(len(search._waiting))
        return answer(task)

    executor._answer = counting
    search = make(tmp_path, executor, {**KNOBS, "SPLIT_K": (1,)}, in_flight=in_flight)
    search.run()

    assert max(under_way) == min(5, in_flight)
    if in_flight > 5:
        assert set(under_way[:12]) == {5}, "none is idle, whichever answers come first"
