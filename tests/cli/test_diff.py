"""``kprof diff`` as a user runs it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kprof.compiler import installations as triton_envs

GFX942 = Path(__file__).parents[1] / "artifacts" / "gfx942"


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A kernel as it lies in Triton's cache: assembly with its metadata."""
    path = tmp_path / "kernel" / "matmul.amdgcn"
    path.parent.mkdir()
    shutil.copy(GFX942 / "matmul.triton-3.9.0.amdgcn", path)
    metadata = {"name": "matmul", "num_warps": 4, "shared": 16384, "triton_version": "3.9.0"}
    path.with_suffix(".json").write_text(json.dumps(metadata))
    return path


@pytest.fixture
def report(kprof, compiled: Path, tmp_path: Path) -> Path:
    """A report of it."""
    path = tmp_path / "report.json"
    assert kprof("analyze", "kernel", compiled, "--json", path).code == 0
    return path


def _spilling(report: Path, **resources: int) -> Path:
    """The same report with other resources."""
    document = json.loads(report.read_text())
    document["kernels"][0]["resources"].update(resources)
    path = report.with_name("new.json")
    path.write_text(json.dumps(document))
    return path


def test_a_report_does_not_differ_from_itself(kprof, report: Path) -> None:
    ran = kprof("diff", report, report)
    assert ran.code == 0
    assert ran.out.strip().splitlines()[-1].endswith("1 same")


def test_a_worse_report_is_a_regression_and_the_other_way_round_none(kprof, report: Path, tmp_path: Path) -> None:
    new = _spilling(report, vgpr_spills=77)
    ran = kprof("diff", report, new, "--json", tmp_path / "d.json", "--markdown", tmp_path / "d.md")
    assert ran.code == 1
    assert "VGPRs spilled" in ran.out
    assert "0 → 77" in ran.out
    assert json.loads((tmp_path / "d.json").read_text())["verdict"]["status"] == "regression"
    assert "0 → 77" in (tmp_path / "d.md").read_text()
    assert kprof("diff", new, report).code == 0
    assert kprof("diff", report, new, "--tolerance", "vgpr_spills=80").code == 0
    assert kprof("diff", report, new, "--fail-on", "error").code == 0
    assert kprof("diff", report, new, "-q").out.count("\n") == 1


def test_a_report_is_compared_with_the_file_it_was_made_of(kprof, report: Path, compiled: Path) -> None:
    ran = kprof("diff", report, compiled, "--json", "-")
    assert ran.code == 0
    assert json.loads(ran.out)["counts"] == {"same": 1}


def test_two_releases_left_in_files_are_compared(kprof) -> None:
    ran = kprof("diff", GFX942 / "matmul.triton-3.4.0.amdgcn", GFX942 / "matmul.triton-3.6.0.amdgcn", "--json", "-")
    (kernel,) = json.loads(ran.out)["kernels"]
    assert kernel["steps"][0]["changes"]
    assert ran.code in {0, 1}


def test_directories_are_compared_and_analysed_once(kprof, compiled: Path, tmp_path: Path, monkeypatch) -> None:
    folder = compiled.parent
    ran = kprof("diff", folder, compiled)
    assert (ran.code, ran.out.strip().splitlines()[-1][-6:]) == (0, "1 same")

    def never(_item: object) -> None:
        raise AssertionError("analysed again")

    monkeypatch.setattr("kprof_analyzers.directories.analyse_item", never)
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    ran = kprof("diff", folder, other)
    assert (ran.code, ran.out.strip().splitlines()[-1]) == (0, "ok: no kernel is worse from kernel to other: 1 same")


def test_a_changed_file_is_analysed_again(kprof, compiled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(compiled.parent, other)
    assert kprof("diff", compiled.parent, other).code == 0
    metadata = json.loads((other / "matmul.json").read_text())
    (other / "matmul.json").write_text(json.dumps(metadata | {"shared": 70000}))
    ran = kprof("diff", compiled.parent, other)
    assert ran.code == 1
    assert "16,384 → 70,000" in ran.out


def test_a_directory_with_a_damaged_file_cannot_be_told(kprof, compiled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(compiled.parent, other)
    (other / "bad.hsaco").write_bytes(b"\x7fELF" + b"\0" * 40)
    ran = kprof("diff", compiled.parent, other)
    assert ran.code == 2
    assert "bad.hsaco" in ran.out


def test_nothing_is_written_beside_the_input(kprof, compiled: Path) -> None:
    before = sorted(compiled.parent.iterdir())
    kprof("diff", compiled.parent, compiled)
    assert sorted(compiled.parent.iterdir()) == before


def test_an_architecture_chooses_kernels(kprof, report: Path) -> None:
    assert kprof("diff", report, report, "--arch", "MI300X").code == 0
    ran = kprof("diff", report, report, "--arch", "gfx950")
    assert ran.code == 2
    assert "gfx942" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a.json"], "two targets are required"),
        (["a.json", "b.json", "c.json"], "two targets are required"),
        (["missing.json", "missing.json"], "no such file"),
        (["gemm", "--triton", "3.6.0"], "one --triton is not enough"),
        (["gemm", "--triton", "3.6.0", "--triton", "3.6"], "twice"),
        (["gemm", "--triton", "3.1.0", "--triton", "3.6"], "too old"),
        (["gemm", "--triton", "x", "--triton", "3.6"], "takes a release"),
        (["gemm", "softmax", "--triton", "3.4.0,3.6.0"], "name one target"),
        (["gemm", "gemm", "--fail-on", "bad"], "--fail-on takes"),
        (["gemm", "gemm", "--tolerance", "speed=3"], "no tolerance for"),
        (["gemm", "gemm", "--explain"], "requires --triton or two captures"),
        (["gemm", "gemm", "--json", "-", "--markdown", "-"], "only one of"),
    ],
)
def test_wrong_use_is_one_message(kprof, arguments: list[str], said: str) -> None:
    ran = kprof("diff", *arguments)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err + ran.out


def test_what_cannot_be_compared_is_one_message(kprof, report: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "notes").write_text("no kernel")
    (tmp_path / "cut.json").write_text(report.read_text()[:500])
    (tmp_path / "later.json").write_text(report.read_text().replace("kprof.report/1", "kprof.report/9"))
    (tmp_path / "cut.hsaco").write_bytes(b"\x7fELF" + b"\0" * 40)
    for name in ("empty", "notes", "cut.json", "later.json", "cut.hsaco"):
        ran = kprof("diff", report, tmp_path / name)
        assert ran.code == 2, name
        assert str(tmp_path / name) in ran.err, name
        assert ran.out == ""


def test_a_compiled_file_cannot_be_compiled_by_another_triton(kprof, compiled: Path) -> None:
    ran = kprof("diff", compiled, "--triton", "3.6.0,3.9.0")
    assert ran.code == 2
    assert "already compiled" in ran.err


def test_an_unknown_kernel_is_told_by_the_child(kprof, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(triton_envs, "provide", lambda version, **_: triton_envs.Environment(version))
    ran = kprof("diff", "gem", "--triton", "3.6.0,3.9.0")
    assert ran.code == 2
    assert "gem" in ran.err


def test_the_schema_is_printed(kprof) -> None:
    assert json.loads(kprof("schema", "diff").out)["title"] == "kprof.diff/1"
    assert json.loads(kprof("schema").out)["title"] == "kprof.report/1"
    assert kprof("schema", "dif").code == 2


@pytest.mark.triton
@pytest.mark.slow
def test_one_kernel_under_two_tritons(kprof, monkeypatch) -> None:
    """With the running release twice, for it needs no other: the way through the children, and no difference."""
    monkeypatch.setattr(triton_envs, "provide", lambda version, **_: triton_envs.Environment(version))
    ran = kprof("diff", "softmax", "--arch", "gfx942,gfx950", "--triton", "3.6.0,3.9.0", "--json", "-")
    document = json.loads(ran.out)
    assert ran.code == 0
    assert document["counts"] == {"same": 2}
    assert [side["label"] for side in document["sides"]] == ["3.6.0", "3.9.0"]


@pytest.mark.triton
@pytest.mark.slow
def test_the_spilling_product_is_explained(kprof, monkeypatch, tmp_path: Path) -> None:
    """With releases that an earlier ``kprof diff`` has put into the cache that KPROF_TEST_CACHE names."""
    cache = os.environ.get("KPROF_TEST_CACHE")
    if not cache:
        pytest.skip("KPROF_TEST_CACHE names no cache with Triton 3.4.0, 3.6.0 and 3.9.0")
    monkeypatch.setenv("KPROF_CACHE_DIR", cache)
    tritons = ["--triton", "3.4.0", "--triton", "3.6.0", "--triton", "3.9.0"]
    knobs = ["--arch", "gfx950", "--case", "square_8k_bf16", "--config", "matrix_instr_nonkdim=0"]
    ran = kprof("diff", "gemm", *knobs, *tritons, "--budget", "300", "--json", tmp_path / "d.json")
    assert ran.code == 1
    (kernel,) = json.loads((tmp_path / "d.json").read_text())["kernels"]
    spills, lds = kernel["figures"]["vgpr_spills"], kernel["figures"]["lds_bytes"]
    assert (spills[:2], lds[:2]) == ([0, 0], [65536, 65536])
    assert spills[2] > 100
    assert lds[2] > 130_000
    why = kernel["explanation"]
    assert (why["old"], why["new"]) == (1, 2)
    assert why["causes"][0]["change"] == {"TRITON_HIP_USE_ASYNC_COPY": "0"}
    assert why["causes"][0]["figures"]["lds_bytes"] == [65536, lds[2], 65536]
    assert why["defaults"]["TRITON_HIP_USE_ASYNC_COPY"] == [False, True]
    assert len(why["cures"]) >= 2
    assert {"num_stages": 1} in [cure["change"] for cure in why["cures"]]
    assert "async copy" in ran.out


def test_what_another_triton_made_worse_comes_with_the_way_to_explain_it(kprof, report: Path) -> None:
    new = _spilling(report, vgpr_spills=7)
    document = json.loads(new.read_text())
    document["kernels"][0]["triton"] = "3.10.0"
    new.write_text(json.dumps(document))
    assert "kprof diff KERNEL --triton 3.9.0 --triton 3.10.0" in kprof("diff", report, new).out
    assert "KERNEL" not in kprof("diff", new, report).out


SOURCE = """
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, K, M: tl.constexpr, N: tl.constexpr):
    rows, columns, inner = tl.arange(0, M), tl.arange(0, N), tl.arange(0, 32)
    total = tl.zeros((M, N), tl.float32)
    for k in range(0, K, 32):
        left = tl.load(a + rows[:, None] * K + (k + inner)[None, :])
        total += tl.dot(left, tl.load(b + (k + inner)[:, None] * N + columns[None, :]))
    tl.store(c + rows[:, None] * N + columns[None, :], total)
"""


@pytest.fixture
def capture_of(tmp_path: Path):
    """A capture with one kernel, as ``kprof capture`` writes it; the file that it names would fail an import."""
    from kprof.compiler.compile import compile_kernel
    from kprof.targets.signature import load_signature

    (tmp_path / "product.py").write_text(SOURCE)

    def write(name: str, triton: str, size: int, warps: int) -> Path:
        knobs = {"M": size, "N": size}
        types = "*fp16:16,*fp16:16,*fp32:16,i32:16"
        request = load_signature(
            str(tmp_path / "product.py"), "product", types, "gfx942", knobs, options={"num_warps": warps}
        )
        compiled = compile_kernel(request)
        asked = {**request.to_json(), "path": str(tmp_path / "evil.py")}
        identifier = name[-1] * 32
        kernel = {"t": "kernel", "n": 0, "id": identifier, "name": "product", "triton": triton, "request": asked}
        launch = {"t": "launch", "kernel": 0, "seq": 0, "grid": [1, 1, 1]}
        lines = [kernel, launch, {"t": "end"}]
        folder = tmp_path / name / "kernels" / identifier
        folder.mkdir(parents=True)
        (tmp_path / name / "journal").mkdir()
        (tmp_path / name / "capture.json").write_text('{"schema": "kprof.capture/1", "arch": "gfx942"}')
        (tmp_path / name / "journal" / "1-a.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        (folder / "result.json").write_text(json.dumps({"status": "ok", "seconds": 1.0, "triton": triton}))
        (folder / "kernel.json").write_text(json.dumps(compiled.metadata))
        for stage in ("ttir", "ttgir", "amdgcn"):
            (folder / f"kernel.{stage}").write_text(compiled.text(stage))
        return tmp_path / name

    (tmp_path / "evil.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'w')\n")
    return write


@pytest.mark.triton
@pytest.mark.slow
def test_a_capture_under_two_tritons(kprof, monkeypatch, capture_of, tmp_path: Path) -> None:
    """Compiled from its TTIR; the file that it names is not imported, and nothing is written into it."""
    monkeypatch.setattr(triton_envs, "provide", lambda version, **_: triton_envs.Environment(version))
    capture = capture_of("capture1", "3.9.0", 32, 4)
    before = sorted(p.name for p in capture.rglob("*"))
    ran = kprof("diff", capture, "--triton", "3.6.0,3.9.0", "--json", "-")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["counts"] == {"same": 1}
    assert "TTIR" in document["notes"][0]
    assert sorted(p.name for p in capture.rglob("*")) == before
    assert not (tmp_path / "imported").exists()
    ran = kprof("diff", capture, "--triton", "3.6.0,3.9.0", "--config", "M=64")
    assert (ran.code, "is a capture and does not use --config" in ran.err) == (2, True)
    next(capture.rglob("kernel.ttir")).write_text("no module")
    ran = kprof("diff", capture, "--triton", "3.6.0,3.9.0")
    assert (ran.code, "cannot be compiled again" in ran.out) == (2, True)


@pytest.mark.triton
@pytest.mark.slow
def test_two_captures_are_told_apart_by_program_and_compiler(kprof, monkeypatch, capture_of) -> None:
    """The larger tile is the program's doing: the other Triton, here the same one, does no better with it."""
    monkeypatch.setattr(triton_envs, "provide", lambda version, **_: triton_envs.Environment(version))
    old, new = capture_of("capture1", "3.6.0", 32, 4), capture_of("capture2", "3.7.0", 256, 4)
    ran = kprof("diff", old, new)
    assert (ran.code, f"kprof diff {old} {new} --explain" in " ".join(ran.out.split())) == (1, True)
    ran = kprof("diff", old, new, "--explain", "--json", "-")
    notes = json.loads(ran.out)["notes"]
    assert ran.code == 1
    assert any("the program changed, not the compiler" in note for note in notes), notes
    same = capture_of("capture3", "3.6.0", 256, 4)
    assert "Triton 3.6.0 compiled both sides" in kprof("diff", old, same, "--explain").out
