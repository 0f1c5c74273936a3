"""``kprof tune`` on small kernels, and every way in which it can be asked wrongly."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from kprof.api.schema import schema_of

pytestmark = pytest.mark.triton

AUTOTUNED = """
import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((256, 1), (1024, 4), (1024, 4))], key=["n"])
@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)


@triton.jit
def plain(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
"""


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file with an autotuned kernel and a plain one."""
    path = tmp_path / "own.py"
    path.write_text(AUTOTUNED)
    return path


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The length of the code stands for a predicted time; see ``tests/tuning/kprof_stub_judge.py``."""
    from kprof.tuning import request as _tune_request
    from kprof.tuning.work import Judge

    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "tuning"))
    judge = Judge("kprof_stub_judge:judge", "1")
    monkeypatch.setattr(_tune_request, "judge", lambda: judge)
    return judge


COPY = ("tune", "memory_copy", "--arch", "MI300X", "-j", "1")
ONE = ("--config", "num_warps=4", "--config", "waves_per_eu=0")


def space(folder: Path, **knobs: Any) -> str:
    """A space file."""
    path = folder / "space.json"
    path.write_text(json.dumps(knobs))
    return str(path)


def test_a_ranking_its_files_and_going_on(kprof: Callable[..., Any], tmp_path: Path) -> None:
    """With the model: the table, the verdict last, the documents; a second run compiles nothing."""
    chosen = space(tmp_path, num_warps=[2, 4], waves_per_eu=[0, 2])
    out = tmp_path / "out"

    first = kprof(*COPY, "--space", chosen, "-o", out, "--write", "triton,dispatch", "--json", tmp_path / "r.json")
    again = kprof(*COPY, "--space", chosen, "-o", out, "-q")

    assert first.code == 0
    assert first.out.splitlines()[0].startswith("memory_copy   gfx942 · MI300X   Triton")
    assert "predicted (caches warm), nothing was run" in first.out.splitlines()[0]
    assert "4 combinations" in first.out
    last = first.out.splitlines()[-1]
    assert last.startswith("tune memory_copy on gfx942: ")
    assert "predicted (likely " in last
    document = json.loads((tmp_path / "r.json").read_text())
    jsonschema.validate(document, schema_of("tune"))
    assert document["search"]["looked_at"] == 4
    assert (document["search"]["tiles"], document["search"]["tiles_seen"]) == (2, 2)
    (problem,) = document["problems"]
    times = [one["time_us"] for one in problem["ranking"]]
    assert times == sorted(times)
    assert all(one["low_us"] <= one["time_us"] <= one["high_us"] for one in problem["ranking"])
    assert document["search"]["ended"] == "complete"
    assert (out / "triton" / "memory_copy_configs.py").is_file()
    assert (out / "dispatch" / "dispatch.json").is_file()
    assert f"wrote {out / 'dispatch' / 'dispatch.json'}" in first.err
    assert again.code == 0
    assert again.out.splitlines() == [last]
    assert json.loads((out / "result.json").read_text())["search"]["compiled"] == 0

    selected = kprof("select", "memory_copy", "--arch", "gfx942", "--table", out / "dispatch" / "dispatch.json")
    assert "predicted" in selected.out


def test_several_problems(kprof: Callable[..., Any], counted: Any, tmp_path: Path) -> None:
    """Each shape is a problem; the table of the best comes first; a file of sizes is taken too."""
    del counted
    sizes = tmp_path / "sizes.yaml"
    sizes.write_text("- {M: 32, N: 64, K: 64, rowMajorA: T, rowMajorB: N}\n")
    gemm = ("tune", "gemm", "--shape", "M=16,N=32,K=64", "--shape", "M=64,N=32,K=64", "--shape-file", sizes)
    knobs = "BLOCK_M=16,BLOCK_N=16,BLOCK_K=32,SPLIT_K=1,XCDS=1,GROUP_M=1,waves_per_eu=0,kpack=1,num_stages=2"
    rest = ("--config", knobs, "--config", "matrix_instr_nonkdim=16", "-j", "1", "--json", tmp_path / "r.json")

    ran = kprof(*gemm, *rest)

    assert ran.code == 0, ran.err
    document = json.loads((tmp_path / "r.json").read_text())
    assert [p["shape"]["M"] for p in document["problems"]] == [16, 64, 32]
    assert document["problems"][0]["assumed"]["dtype"] == "fp16"
    assert document["problems"][2]["shape"]["trans_b"] is True
    assert "3 problems" in ran.out.splitlines()[-1]
    assert any(line.startswith("problem") for line in ran.out.splitlines())


def test_configurations_of_an_autotuner(kprof: Callable[..., Any], counted: Any, own: Path) -> None:
    """They are read from the decorator; one that is listed twice counts once; sizes make the launch."""
    del counted
    ran = kprof(
        "tune", f"{own}::scale", "--signature", "*fp16,*fp16", "--shape", "n=100000", "--grid", "cdiv(n,BLOCK)",
        "-j", "1", "--json", "-",
    )  # fmt: skip

    document = json.loads(ran.out)
    assert ran.code == 0
    assert document["space"]["origin"] == "@triton.autotune"
    assert document["space"]["size"] == 2
    ranking = document["problems"][0]["ranking"]
    configs = [one["config"] for one in ranking] + [c for one in ranking for c in one.get("alike", [])]
    assert sorted(config["BLOCK"] for config in configs) == [256, 1024]


def test_interrupted(kprof: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, counted: Any, tmp_path: Path) -> None:
    """Ctrl-C shows what is known, says where it is kept, and ends with 130."""
    del counted
    from kprof.tuning import search

    take = search.Search._take

    def stop(self: Any, answer: Any) -> None:
        take(self, answer)
        raise KeyboardInterrupt

    monkeypatch.setattr(search.Search, "_take", stop)
    ran = kprof(*COPY, "-o", tmp_path / "out")

    assert ran.code == 130
    assert "stopped by Ctrl-C" in ran.out.splitlines()[-1]
    assert "the same command continues from there" in " ".join(ran.out.split())
    assert len((tmp_path / "out" / "search.jsonl").read_text().splitlines()) == 1


def test_nothing_can_be_predicted(
    kprof: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, counted: Any, tmp_path: Path
) -> None:
    """Every configuration fails: the reason is shown, and the exit code is 2."""
    del counted
    monkeypatch.setenv("STUB_JUDGE_FAILS", "memory_copy")

    ran = kprof(*COPY, "--space", space(tmp_path, num_warps=[4], waves_per_eu=[0]), "-o", tmp_path / "out")

    assert ran.code == 2
    assert "no configuration could be predicted" in ran.out
    assert "could not be judged: ZeroDivisionError: of no use" in ran.out
    assert "0 of 1 configurations predicted" in ran.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nothing",), "no kernel 'nothing'"),
        (("gemm", "--shape", "Q=1"), "gemm has no shape parameter 'Q'"),
        (("gemm", "--shape", "M=0"), "a size must be positive"),
        (("gemm", "--case", "nosuch"), "gemm has no case 'nosuch'"),
        (("gemm", "--arch", "gfx942,gfx950"), "accepts one --arch"),
        (("gemm", "--arch", "MI999"), "no architecture or product 'MI999'"),
        (("gemm", "--config", "BLOCK_Q=1"), "sets 'BLOCK_Q', which the kernel does not have"),
        (("gemm", "--config", "num_warps=3"), "num_warps is not a power of two"),
        (("gemm", "--config", "BLOCK_M=big"), "BLOCK_M takes whole numbers, not 'big'"),
        (("gemm", "--config", "matrix_instr_nonkdim=8"), "there is no matrix instruction of size 8 x 8"),
        (("gemm", "--space", "none.toml"), "none.toml: no such file"),
        (("gemm", "--shape-file", "none.yaml"), "none.yaml: no such file"),
        (("gemm", "--write", "vlm", "-o", "x"), "unknown format 'vlm'; did you mean 'vllm'"),
        (("gemm", "--write", "vllm"), "--write needs an output folder"),
        (("gemm", "--grid", "M"), "gemm is a kernel with cases and does not use --grid"),
        (("gemm", "--signature", "*fp16"), "gemm is a kernel with cases and does not use --signature"),
        (("gemm", "--scheduler", "host:1"), "takes an address such as tcp://host:8786"),
        (("gemm", "--shape", "dtype=fp8_e4m3", "--arch", "gfx90a"), "gemm cannot run on gfx90a"),
        (("OWN",), "the file has 2 kernels; name one of them"),
        (("OWN::plain",), "plain does not say how it is launched"),
        (("OWN::plain", "--signature", "*fp16,*fp16"), "plain has no search space"),
        (("OWN::scale", "--signature", "*fp16,*fp16", "--grid", "import os"), "--grid cannot be read"),
        (
            ("OWN::scale", "--signature", "*fp16,*fp16,i32", "--shape", "n=64"),
            "the number of workgroups is unknown",
        ),
        (
            ("OWN::scale", "--signature", "*fp16,*fp16,i32", "--grid", "cdiv(n,BLOCK)"),
            "the grid uses n, which is neither",
        ),
        (("gemm", "--shape", "M=many"), "M=many: expected a whole number"),
    ],
)
def test_wrong_questions(
    kprof: Callable[..., Any], own: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One clear sentence, exit code 2, before anything is compiled."""
    from kprof.compiler import pool

    monkeypatch.chdir(own.parent)
    monkeypatch.setattr(pool.Pool, "_start", lambda _: pytest.fail("something was compiled"))

    ran = kprof("tune", *(argument.replace("OWN", str(own)) for argument in arguments))

    assert ran.code == 2
    assert message in ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""


def test_verify_needs_a_gpu(kprof: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked for explicitly and not to be had: one message and exit code 2, before any compile."""
    from kprof.bench.pool import Runner
    from kprof.errors import HardwareError

    def describe(self: Any, given: Any, *, measure: bool) -> Any:
        raise HardwareError("no GPU that torch 2.13 can use here")

    monkeypatch.setattr(Runner, "describe", describe)

    ran = kprof("tune", "gemm", "--verify")

    assert ran.code == 2
    assert ran.err.startswith("kprof: --verify: no GPU that torch 2.13 can use here")
    assert "needs no GPU" in ran.err


def test_verify_measures_the_short_list(
    kprof: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, counted: Any, tmp_path: Path
) -> None:
    """The fastest measured one comes first, a wrong one last with what was wrong, and both times are shown."""
    del counted
    import msgspec

    from kprof.bench import pool as bench_pool
    from kprof.bench.document import Device, MachinePeaks, Measurement, Timing

    device = Device("AMD Instinct MI300X", "rocm", "gfx942", {}, 1 << 30, MachinePeaks())
    ms = {1: 3.0, 2: 1.0, 4: 2.0, 16: 2.5}

    def measure(self: Any, task: Any) -> Any:
        warps = task.config["num_warps"]
        start = Measurement("memory_copy", task.case, task.shape, task.provider, "ok", config=task.config)
        if warps == 8:
            return msgspec.structs.replace(start, status="wrong", message="off by one")
        timing = Timing(ms[warps], ms[warps], ms[warps], ms[warps], 5, "events", 1, 1)
        return msgspec.structs.replace(start, timing=timing)

    monkeypatch.setattr(bench_pool.Runner, "describe", lambda *_, **__: device)
    monkeypatch.setattr(bench_pool.Runner, "measure", measure)
    chosen = space(tmp_path, num_warps=[1, 2, 4, 8], waves_per_eu=[0])

    ran = kprof(*COPY, "--space", chosen, "--verify", "--json", tmp_path / "r.json", "-o", tmp_path / "out")

    assert ran.code == 0, ran.err
    document = json.loads((tmp_path / "r.json").read_text())
    ranking = document["problems"][0]["ranking"]
    assert document["measured_on"] == "AMD Instinct MI300X"
    assert (ranking[0]["config"]["num_warps"], ranking[0]["measured_ms"]) == (2, 1.0)
    wrong = next(one for one in ranking if one["config"]["num_warps"] == 8)
    assert wrong["note"] == "wrong: off by one"
    assert "measured_ms" not in wrong
    assert "measured on AMD Instinct MI300X" in ran.out.splitlines()[0]
    assert "num_warps=2" in ran.out.splitlines()[-1]
    assert "1.00 ms measured" in ran.out.splitlines()[-1]
    assert "of the 3 measured, the one predicted to be fastest takes " in ran.out

    other = kprof("tune", "memory_copy", "--arch", "gfx950", *ONE, "--verify", "-o", tmp_path / "o2")
    assert other.code == 2
    assert "this machine's GPU is AMD Instinct MI300X (gfx942), the ranking is for gfx950" in other.err


def test_ctrl_c_while_measuring(
    kprof: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, counted: Any, tmp_path: Path
) -> None:
    """What was measured by then counts and comes first; the exit code is that of Ctrl-C."""
    del counted
    from kprof.bench import pool as bench_pool
    from kprof.bench.document import Device, MachinePeaks, Measurement, Timing

    device = Device("AMD Instinct MI300X", "rocm", "gfx942", {}, 1 << 30, MachinePeaks())
    begun: list[Any] = []

    def measure(self: Any, task: Any) -> Any:
        begun.append(task.config)
        if len(begun) == 3:
            raise KeyboardInterrupt
        timing = Timing(2.0, 2.0, 2.0, 2.0, 5, "events", 1, 1)
        return Measurement("memory_copy", task.case, task.shape, task.provider, "ok", config=task.config, timing=timing)

    monkeypatch.setattr(bench_pool.Runner, "describe", lambda *_, **__: device)
    monkeypatch.setattr(bench_pool.Runner, "measure", measure)
    chosen = space(tmp_path, num_warps=[1, 2, 4, 8], waves_per_eu=[0])

    ran = kprof(*COPY, "--space", chosen, "--verify", "--json", tmp_path / "r.json", "-o", tmp_path / "out")

    assert ran.code == 130
    problem = json.loads((tmp_path / "r.json").read_text())["problems"][0]
    assert problem["own"]["measured_ms"] == 2.0
    assert [one.get("measured_ms") for one in problem["ranking"]] == [2.0, None, None, None]
    assert "stopped by Ctrl-C" in ran.out.splitlines()[-1]


def test_bounds_and_columns() -> None:
    """A column has one unit; numbers stand to the right, words to the left."""
    from kprof.reporters.tune_text import aligned, common, spread_cell

    assert spread_cell(138.0, 391.0, 1.0) == "138-391"
    assert spread_cell(397.0, 1120.0, 1000.0) == "0.397-1.12"
    assert spread_cell(None, 1120.0, 1000.0) == "-"
    assert aligned([["", "n", "word"], ["1", "5", "a"], ["2", "100", "bb"]]) == [
        "     n  word",
        "1    5  a",
        "2  100  bb",
    ]
    assert common([{"a": 1, "b": 2}, {"a": 1, "b": 3}]) == {"a": 1}
    assert common([{"a": 1}]) == {}


def test_time_left() -> None:
    """The sooner of the budget's end and all being done; hours are written out."""
    from kprof.reporters.tune_progress import line
    from kprof.tuning.search_result import Progress

    assert "1:00 left" in line(Progress(total=10_000, compiled=10, seconds=60.0, budget=120.0))
    assert "0:10 left" in line(Progress(total=100, compiled=90, seconds=90.0, budget=3600.0))
    assert "16:40:00 left" in line(Progress(total=10_010, compiled=10, seconds=60.0))
    resumed = Progress(total=110, compiled=10, resumed=90, seconds=10.0)
    assert "0:10 left" in line(resumed)
    assert "90 known before" in line(resumed)
    assert "left" not in line(Progress(total=5))


def test_the_progress_line_begins_with_what_matters() -> None:
    """Eighty columns show what is done, the time left and the best; the problem is named where there are several."""
    from kprof.reporters.tune_progress import line
    from kprof.tuning.search_result import Progress

    state = Progress(compiled=580, resumed=120, compiles=700, total=700_800, failed=30, seconds=100.0, budget=300.0)
    state.best, state.tiles, state.tiles_seen = ("M=64", 1893.4), 344, 90

    assert line(state)[:79].startswith("700 of 700,800 · 3:20 left · best 1.89 ms · 90 of 344 tiles · 7.0 compiles/s")
    state.problems = 3
    assert "best 1.89 ms for M=64" in line(state)


def test_the_counts_of_a_search_add_up_on_the_screen(capsys: pytest.CaptureFixture[str]) -> None:
    """Looked at is compiled and evaluated without a compile; the reasons of the latter add up to it."""
    from kprof.output.terminal import terminal
    from kprof.reporters.tune_text import _footer
    from kprof.tuning import document as made

    search = made.SearchFacts(
        "complete", 117, 3, 3, 105, 4, 2, 0, {}, "", 30.0, 1.0, "2 processes", "", "", 7, ["kpack"], 2, 1, 106
    )
    chosen = made.SpaceFacts("a list", 120, 117, {"needs too much LDS": 3}, [])
    report = made.TuneReport("0", "k", "gfx942", None, None, chosen, search, [], made.TuningVerdict("ok", "all"))
    _footer(terminal(no_color=True), report)

    assert " ".join(capsys.readouterr().out.split()) == (
        "Space 120 combinations of a list: 117 to explore, 3 pruned (3 needs too much LDS) "
        "Search 117 explored, all 3 tiles: 105 compiled (4 from the cache) + 12 evaluated without a compile in 30 s "
        "by 2 processes, 3.5 compiles/s "
        "Others without a compile: 2 known before; 7 changed only kpack, which did not change a time; "
        "2 same program as a compiled one; 1 rejected by the kernel"
    )
    search.inert.clear()
    _footer(terminal(no_color=True), report)
    assert "7 changed only knobs that did not change a time;" in " ".join(capsys.readouterr().out.split())


def test_what_the_verdict_says_of_the_own_configuration() -> None:
    """Faster, as good, or slower: then to keep it."""
    from kprof.reporters.tune_text import verdict
    from kprof.tuning import document as made

    def said(time: float, own: float, *, tie: bool = False) -> str:
        best, kept = (
            made.Ranked({"BLOCK": n}, t, 0.8 * t, 1.2 * t, "matrix", made.CompiledResources(), tie=tie and n == 2)
            for n, t in ((1, time), (2, own))
        )
        problem = made.TunedProblem("M=1", {"M": 1}, {}, 1, kept, [best], [0], [])
        search = made.SearchFacts("complete", 1, 1, 1, 1, 0, 0, 0, {}, "", 1.0, 1.0, "nobody", "nowhere")
        chosen = made.SpaceFacts("a list", 1, 1, {}, [])
        return verdict(
            made.TuneReport("0", "k", "gfx942", None, None, chosen, search, [problem], made.TuningVerdict("ok", "all"))
        )

    faster = "tune k on gfx942: 100 µs predicted (likely 80.0 to 120 µs), 1.50x as fast as the kernel's own: BLOCK=1"
    assert said(100.0, 150.0) == faster
    kept = "keep the kernel's own, 101 µs predicted (likely 80.8 to 121 µs): nothing faster was found; own: BLOCK=2"
    assert said(100.0, 101.0) == f"tune k on gfx942: {kept}"
    assert "keep the kernel's own, 50.0 µs predicted" in said(100.0, 50.0)
    assert ": the best other configuration takes 100 µs; own: BLOCK=2" in said(100.0, 50.0)
    near = "keep the kernel's own, 106 µs predicted (likely 84.8 to 127 µs): the 100 µs of another one are too close"
    assert near in said(100.0, 106.0, tie=True)
    assert "1.06x as fast as the kernel's own: BLOCK=1" in said(100.0, 106.0)
