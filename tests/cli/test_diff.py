"""``kprof diff`` as a user runs it."""

import json
import os
import shutil
from pathlib import Path

import pytest

from kprof.harness import triton_envs

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
        (["a.json"], "two things are compared"),
        (["a.json", "b.json", "c.json"], "two things are compared"),
        (["missing.json", "missing.json"], "no such file"),
        (["gemm", "--triton", "3.6.0"], "nothing to compare with"),
        (["gemm", "--triton", "3.6.0", "--triton", "3.6"], "twice"),
        (["gemm", "--triton", "3.1.0", "--triton", "3.6"], "too old"),
        (["gemm", "--triton", "x", "--triton", "3.6"], "takes a release"),
        (["gemm", "softmax", "--triton", "3.4.0,3.6.0"], "name one target"),
        (["gemm", "gemm", "--fail-on", "bad"], "--fail-on takes"),
        (["gemm", "gemm", "--tolerance", "speed=3"], "no tolerance for"),
        (["gemm", "gemm", "--explain"], "only a comparison with --triton"),
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
    assert "compiled already" in ran.err


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
