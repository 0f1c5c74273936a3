"""What a target cannot use is an error, by every command and in the same words."""

import itertools
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kprof.errors import TargetError
from kprof.options.groups import CompileOptions, WorkgroupOptions
from kprof.targets.target import TargetKind
from kprof.targets.usable_options import FLAGS, USES, check, check_any, given, usable
from tests.conftest import Ran

SOURCE = """
import triton
import triton.language as tl


@triton.jit
def scale(x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
"""

# Each option with a value that means something.
VALUES = {
    "config": ("--config", "num_warps=2"),
    "shape": ("--shape", "n=64"),
    "case": ("--case", "zzz"),
    "all_configs": ("--all-configs",),
    "signature": ("--signature", "zzz"),
    "constexpr": ("--constexpr", "BLOCK=64"),
    "grid": ("--grid", "4"),
    "lds": ("--lds", "32K"),
    "num_warps": ("--num-warps", "2"),
    "launch": ("--launch", "launches.json"),
    "env": ("--env", "TRITON_DEBUG=1"),
    "passes": ("--passes",),
    "value": ("--value", "zzz=1"),
}
COMMANDS = (("analyze", "kernel"), ("occupancy",), ("draw", "flow"), ("report", "-o", "page.html"))
TAKES = {
    "draw": {"config", "shape", "case", "signature", "constexpr"},
    "occupancy": {"config", "shape", "case", "signature", "constexpr"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Targets of each kind, by names that say so."""
    monkeypatch.chdir(tmp_path)
    artefact = next((Path(__file__).parents[1] / "artifacts" / "gfx942").glob("*.amdgcn"))
    for name in ("code.amdgcn", "cache/kernel.amdgcn"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(artefact.read_bytes())
    (tmp_path / "code.hip").write_text("__global__ void f() {}\n")
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "capture.json").write_text('{"schema": "kprof.capture/1", "arch": "gfx942"}')
    (tmp_path / "own.py").write_text(SOURCE)
    return tmp_path


TARGETS = {
    "code.amdgcn": TargetKind.CODE,
    "cache": TargetKind.DIRECTORY,
    "code.hip": TargetKind.HIP,
    "recorded": TargetKind.CAPTURE,
    "own.py::scale": TargetKind.FUNCTION,
    "softmax": TargetKind.KERNEL,
}


def test_each_field_has_a_flag_and_a_test() -> None:
    """All fields but those that say where and how it is compiled and what a time is of, and every kind of target."""
    everywhere = {"arch", "jobs", "use_cache", "condition"}

    assert {*vars(CompileOptions()), *vars(WorkgroupOptions())} - everywhere == set(FLAGS) == set(VALUES)
    assert set(USES) == set(TargetKind)
    assert given(CompileOptions()) == []
    assert given(CompileOptions(passes=True, grid=(1,))) == ["grid", "passes"]


@pytest.mark.triton
@pytest.mark.parametrize(("target", "kind"), TARGETS.items())
def test_what_is_not_used_is_refused(target: str, kind: TargetKind, folder: Path, kprof: Callable[..., Ran]) -> None:
    """By name of the option and kind of the target, with a way out; nothing is compiled or run for it."""
    pytest.importorskip("triton")
    del folder
    for command, name in itertools.product(COMMANDS, VALUES):
        if name in USES[kind] or name not in TAKES.get(command[0], VALUES):
            continue
        ran = kprof(*command, target, *VALUES[name])

        assert ran.code == 2, (command, name)
        assert f"is {kind.value} and does not use {FLAGS[name]}\n  " in ran.err + ran.out, (command, name)
        assert "Traceback" not in ran.err


@pytest.mark.triton
def test_a_question_that_was_answered_before_refuses_them_too(folder: Path, kprof: Callable[..., Ran]) -> None:
    """The compiles of a target are remembered by its options: one that it does not use makes another question."""
    pytest.importorskip("triton")
    del folder

    assert kprof("analyze", "kernel", "softmax", "--no-try").code == 0
    for size in ("32K", "0"):
        assert kprof("analyze", "kernel", "softmax", "--no-try", "--lds", size).code == 2


@pytest.mark.triton
@pytest.mark.parametrize("arguments", [("--all-configs",), ("--all-configs", "--constexpr", "BLOCK=64")])
def test_all_configs_where_there_are_none(arguments: tuple[str, ...], folder: Path, kprof: Callable[..., Ran]) -> None:
    """A function without an autotuner lists none."""
    pytest.importorskip("triton")
    ran = kprof("analyze", "kernel", folder / "own.py", "--signature", "*fp32,i32", *arguments)

    assert ran.code == 2
    assert "scale lists no configurations, so there is nothing for --all-configs" in ran.err


@pytest.mark.triton
def test_tune_and_advise_say_the_same(folder: Path, kprof: Callable[..., Ran]) -> None:
    """What is compiled already has no other knobs; a function has no cases."""
    pytest.importorskip("triton")
    compiled = kprof("tune", folder / "code.amdgcn")
    case = kprof("tune", f"{folder}/own.py::scale", "--signature", "*fp32", "--case", "zzz")

    advised = kprof("advise", f"{folder}/own.py::scale", "--case", "zzz")
    assert (compiled.code, case.code, advised.code) == (2, 2, 2)
    assert "scale is a Triton function without a KERNEL and does not use --case" in advised.err
    assert "a file of compiled code" in compiled.err
    assert "scale is a Triton function without a KERNEL and does not use --case" in case.err


def test_a_saved_report_takes_no_options(folder: Path, kprof: Callable[..., Ran]) -> None:
    """It was analysed when it was written."""
    (folder / "saved.json").write_text("{}")
    ran = kprof("report", folder / "saved.json", "-o", folder / "page.html", "--config", "num_warps=2")

    assert ran.code == 2
    assert "is a report and does not use --config" in ran.err


def test_of_two_sides_one_must_use_an_option(folder: Path) -> None:
    """An option of ``kprof diff`` is for the side that uses it; one for neither is an error."""
    options = CompileOptions(config={"num_warps": 2}, all_configs=True)

    check_any(["code.amdgcn", "softmax"], options)
    assert usable("code.amdgcn", options) == CompileOptions()
    assert usable("softmax", options) == options
    assert usable("recorded", options) == CompileOptions(all_configs=True)
    with pytest.raises(TargetError, match=r"code\.amdgcn is a file of compiled code and does not use --config"):
        check_any(["code.amdgcn", "recorded"], options)


def test_the_documentation_has_the_same_table() -> None:
    """docs/targets.md lists the kinds in the words of the messages, with the flags that each uses."""
    text = (Path(__file__).parents[2] / "docs" / "targets.md").read_text()
    rows = dict(re.findall(r"^\| ([a-zA-Z ]+) \| (`--.*|none) \|$", text, re.MULTILINE))

    assert {kind: set(re.findall(r"--[a-z-]+", flags)) for kind, flags in rows.items()} == {
        kind.value: {FLAGS[name] for name in names} for kind, names in USES.items() if kind is not TargetKind.SOURCE
    }


def test_several_are_named_together() -> None:
    """One sentence for all of them."""
    with pytest.raises(TargetError, match="does not use --shape and --passes"):
        check(TargetKind.CODE, "x", ["shape", "passes"])


@pytest.mark.triton
def test_compiled_code_with_its_grid_has_the_time_of_its_source(folder: Path, kprof: Callable[..., Ran]) -> None:
    """The files of a compile lack only the grid; --grid applies to every kernel of a folder."""
    pytest.importorskip("triton")
    chosen = ("--arch", "MI300X", "--no-try", "--format", "json")
    own = ("own.py::scale", "--signature", "*fp32:16,i32", "--constexpr", "BLOCK=1024", "--dump", "left")
    source, left, alone = (
        json.loads(kprof("analyze", "kernel", *target, "--grid", "64;32", *chosen).out)["kernels"][0]
        for target in (own, ("left",), ("left/scale.gfx942.hsaco",))
    )

    assert left["model"]["time_us"] == source["model"]["time_us"] > 0
    assert left["model"]["workgroups"] == alone["model"]["workgroups"] == 64 * 32

    (folder / "bare").mkdir()
    shutil.copy(folder / "left" / "scale.gfx942.hsaco", folder / "bare")
    launch = ("--grid", "64;32", "--lds", "0", "--num-warps", "4")
    ran = kprof("analyze", "kernel", folder / "bare" / "scale.gfx942.hsaco", *launch, *chosen)
    bare = json.loads(ran.out)["kernels"][0]
    assert bare["occupancy"]["waves_per_simd"] == source["occupancy"]["waves_per_simd"]
    assert not [note for note in bare["notes"] if "launch is not known" in note or "occupancy is not known" in note]


@pytest.mark.parametrize(("option", "value", "words"), [
    ("--lds", "100K", "102,400 B of LDS a workgroup, but gfx942 has 65,536"),
    ("--num-warps", "17", "17 wavefronts of 64 lanes: 1,088 work-items; gfx942 allows 1,024"),
    ("--num-warps", "0", "a workgroup has at least one wavefront, not 0"),
])  # fmt: skip
def test_a_launch_that_cannot_be(folder: Path, kprof: Callable[..., Ran], option: str, value: str, words: str) -> None:
    """A stated launch that the hardware cannot run is reported."""
    ran = kprof("analyze", "kernel", folder / "code.amdgcn", "--grid", "8", option, value)

    assert words in " ".join((ran.out + ran.err).split())


def test_a_grid_of_compiled_code_has_no_names(folder: Path, kprof: Callable[..., Ran]) -> None:
    """Sizes have names in the source alone."""
    ran = kprof("analyze", "kernel", folder / "code.amdgcn", "--grid", "cdiv(M,64)")

    assert ran.code == 2
    assert "the grid uses M, but compiled code has no named sizes" in ran.err
