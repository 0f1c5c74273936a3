"""One bit turned in anything that is kept: the answer is that of a kprof without a cache."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from kprof.cache import location
from kprof.cache.content import of_folders

ARTIFACTS = Path(__file__).parents[1] / "artifacts" / "gfx942"
KERNEL = """import triton
import triton.language as tl


@triton.jit
def scale(out_ptr, x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets) * 2.0)
"""
# Where in an entry: its mark, its checksum, where its content begins, anywhere in it, its end.
PLACES = st.one_of(
    st.integers(0, 13), st.integers(14, 45), st.integers(46, 60), st.integers(46, 1 << 16), st.integers(-20, -1)
)


def jobs() -> Any:
    from kprof.hardware.machine import load
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import plan

    root = location.root()
    assert root is not None
    path = root.parent / "scale.py"
    if not path.is_file():
        path.write_text(KERNEL)
    options = CompileOptions(signature="*fp32:16,*fp32:16,i32:16", constexpr={"BLOCK": 1024}, grid=(64,))
    return plan(f"{path}::scale", [load("gfx942")], options)


def compiled() -> Any:
    from kprof.compiler.compile import compile_kernel

    found = compile_kernel(jobs()[0].request)
    return dict(found.stages), dict(found.metadata), found.hash


def reports() -> Any:
    from kprof_analyzers.report_cache import judged

    ((_, report),) = judged(jobs(), 1)
    return msgspec.to_builtins(msgspec.structs.replace(report, compile_seconds=UNSET, cached=UNSET), enc_hook=str)


def explained() -> Any:
    from kprof.options.groups import CompileOptions
    from kprof_analyzers.report_cache import predicted_reports

    (job,) = jobs()
    options = CompileOptions(
        arch=("MI300X",), signature="*fp32:16,*fp32:16,i32:16", constexpr={"BLOCK": 1024}, grid=(64,)
    )
    ((_, report),) = predicted_reports(f"{job.request.path}::scale", options)
    return msgspec.to_builtins(msgspec.structs.replace(report, compile_seconds=UNSET, cached=UNSET), enc_hook=str)


@functools.cache
def _kernel() -> Any:
    from kprof.compiler.compile import compile_kernel

    return compile_kernel(jobs()[0].request)


def predictions() -> Any:
    from kprof.tuning.trials import predicted

    launch = {"name": "scale", "arch": "MI300X", "grid": [64], "arguments": {}, "problem": {}, "flops": None}
    answer = predicted.judge(_kernel(), {**launch, "version": predicted.version()})
    return {name: value for name, value in answer.items() if name not in {"again", "seconds", "cached"}}


def directory() -> Any:
    from kprof_analyzers.directories import analyse_directory

    return analyse_directory(ARTIFACTS.parent / "gfx1100", jobs=1)


def contents() -> Any:
    return of_folders([ARTIFACTS])


KINDS: dict[str, Callable[[], Any]] = {
    "contents": contents,
    "directory-reports": directory,
    "answers": jobs,
    "compiled": compiled,
    "compiled-index": compiled,
    "reports": reports,
    "explained": explained,
    "predictions": predictions,
}
NEEDS_TRITON = {"answers", "compiled", "compiled-index", "reports", "explained", "predictions"}


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KPROF_CACHE_DIR", str(tmp_path_factory.mktemp("damage") / "cache"))
        yield


def kept(kind: str) -> list[Path]:
    """Entries of a kind."""
    root = location.root()
    assert root is not None
    return sorted(p for p in (location.entries(root) / f"{kind}-1").rglob("*") if p.is_file())


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.triton) if k in NEEDS_TRITON else k for k in KINDS])
def test_one_bit_is_a_miss_and_never_another_answer(kind):
    """Wherever it is: removed, made again as it was."""
    ask = KINDS[kind]
    fresh = ask()
    assert ask() == fresh

    @settings(
        max_examples=3 if kind in {"reports", "explained"} else 12 if kind in NEEDS_TRITON else 40,
        deadline=None,
        suppress_health_check=[HealthCheck.nested_given],
    )
    @given(place=PLACES, bit=st.integers(0, 7), which=st.integers(0, 5))
    @example(place=0, bit=0, which=0)
    @example(place=-2, bit=1, which=0)
    def turn(place, bit, which):
        entries = kept(kind)
        assert entries
        path = entries[which % len(entries)]
        before = path.read_bytes()
        raw = bytearray(before)
        at = place % len(raw)
        raw[at] ^= 1 << bit
        path.write_bytes(raw)
        assert ask() == fresh
        # Gone, or written again: what was damaged is nowhere.
        assert not path.exists() or path.read_bytes() != bytes(raw)

    turn()


def test_a_damaged_recorded_kernel_is_compiled_again(tmp_path):
    """Of a recording's kernels: not served, and removed."""
    from kprof.recording import compile_results
    from kprof.recording.settings import Settings
    from kprof.simulation.gpu import gpu_of

    settings_ = Settings(str(tmp_path), gpu_of("MI300X"), cache=str(tmp_path / "cache"))
    blobs = {"amdgcn": "s_endpgm", "hsaco": b"\x7fELF"}
    head = {"result": {"status": "ok"}, "metadata": {"shared": 0}}
    from kprof.compiler.wire import pack

    assert compile_results._CAPTURED.write(compile_results._key("0" * 16), pack(head, blobs), tmp_path / "cache")
    assert compile_results.fetch(settings_, "0" * 16) == (head, blobs)
    (path,) = (p for p in (tmp_path / "cache").rglob("*") if p.is_file())
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(raw)
    assert compile_results.fetch(settings_, "0" * 16) is None
    assert not path.exists()
