"""``kprof lint``: formats, exit codes, and compiled buckets."""

import json
import os
import xml.etree.ElementTree as ET

import pytest

BUCKET = {"BLOCK_SIZE_M": 64, "BLOCK_SIZE_N": 64, "BLOCK_SIZE_K": 32, "num_warps": 4, "num_stages": 2}
KERNEL = '''"""A kernel of the user's."""

import triton
import triton.language as tl


@triton.autotune([triton.Config({"BLOCK": 512}, num_warps=4), triton.Config({"BLOCK": 384}, num_warps=32)], key=["n"])
@triton.jit
def scale(out, x, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) * 2, mask=at < n)
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A repository with a good and a bad file; the working directory."""
    (tmp_path / ".git").mkdir()
    configs = tmp_path / "configs"
    configs.mkdir()
    (configs / "gfx942-GEMM-A16W16.json").write_text(json.dumps({"M_LEQ_64": BUCKET, "any": BUCKET}, indent=2))
    (configs / "gfx950-GEMM-A16W16.json").write_text(json.dumps({"any": {**BUCKET, "kpack": 2}}, indent=2))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return configs


def test_good_files_are_fine(kprof, folder):
    """Exit code 0, and the last line says how much was looked at."""
    ran = kprof("lint", folder / "gfx942-GEMM-A16W16.json")
    assert (ran.code, ran.out) == (0, "ok: 1 file, 2 buckets: no findings\n")


def test_findings_fail_in_every_format(kprof, folder, tmp_path):
    """Each format names the rule and the line, from the repository's root; --fail-on decides the exit code."""
    names = ("json", "sarif", "junit", "gitlab", "markdown")
    outputs = [word for name in names for word in (f"--{name}", tmp_path / name)]
    ran = kprof("lint", folder, *outputs, "--github")
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == "failed (--fail-on warning): 2 files, 3 buckets: 1 warning"
    assert "configs/gfx950-GEMM-A16W16.json   gfx950\n  8:5  warning  KP711  any: kpack = 2" in ran.out
    assert "::warning file=configs/gfx950-GEMM-A16W16.json,line=8,col=5,title=KP711" in ran.out
    entry = json.loads((tmp_path / "json").read_text())["kernels"][1]
    assert (entry["arch"], entry["findings"][0]["location"]["file"]) == ("gfx950", "configs/gfx950-GEMM-A16W16.json")
    runs = json.loads((tmp_path / "sarif").read_text())["runs"]
    assert [(run["automationDetails"]["id"], len(run["results"])) for run in runs] == [
        ("kprof/gfx942/", 0),
        ("kprof/gfx950/", 1),
    ]
    assert runs[1]["tool"]["driver"]["rules"][0]["help"]["markdown"].startswith("`kpack` is set to 2")
    assert [e.get("failures") for e in ET.parse(tmp_path / "junit").getroot()] == ["0", "1"]
    assert json.loads((tmp_path / "gitlab").read_text())[0]["location"] == {
        "path": "configs/gfx950-GEMM-A16W16.json",
        "lines": {"begin": 8},
    }
    assert "KP711 kpack-not-of-this-gpu" in (tmp_path / "markdown").read_text()
    for arguments in (
        ["--fail-on", "error"],
        ["--fail-on", "never"],
        ["--ignore", "KP711"],
        ["--ignore", "kpack-not-of-this-gpu"],
    ):
        assert kprof("lint", folder, *arguments).code == 0, arguments


def test_sarif_is_valid(kprof, folder, tmp_path, sarif_schema):
    """The official schema takes a run over configuration files."""
    jsonschema = pytest.importorskip("jsonschema")
    (folder / "gfx942-GEMM-A8W8.json").write_text('{"any": {"a": 1,}, "any": 2}')
    kprof("lint", folder, "--sarif", tmp_path / "out.sarif")
    jsonschema.validate(json.loads((tmp_path / "out.sarif").read_text()), sarif_schema)


def test_what_cannot_be_told_is_exit_code_2(kprof, folder, tmp_path):
    """A missing file, one of another kind, an empty folder, a mistyped rule or architecture: one clear message each."""
    (tmp_path / "package.json").write_text("{}")
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        (["absent.json"], "absent.json: no such file"),
        (["absent"], "absent: no such file or folder"),
        (["package.json"], "no tuned configuration that kprof knows"),
        (["empty"], ""),
        ([folder, "--ignore", "KP71"], "--ignore: no rule 'KP71'; did you mean"),
        ([folder, "--arch", "gfx94"], "--arch: "),
        ([folder, "--fail-on", "bad"], "--fail-on takes"),
        ([folder, "--rename", "BLOCK"], "--rename takes KNOB=NAME"),
    ):
        ran = kprof("lint", *arguments)
        assert ran.code == 2, arguments
        assert words in ran.err, arguments
    assert kprof("lint", "empty").out == "cannot tell: no tuned configuration was found\n"


def test_the_rules_are_known(kprof):
    """The gate's, the ignores' and the configurations' rules are listed and explained."""
    listed = json.loads(kprof("list", "rules", "--json", "-").out)
    assert listed["schema"] == "kprof.rules/1"
    known = {row["rule"]: row for row in listed["rules"]}
    assert {"KP001", "KP011", "KP012", "KP013", "KP101", "KP701", "KP744"} <= set(known)
    assert all(row["summary"] for row in known.values())
    for rule in ("KP001", "KP013", "kpack-not-of-this-gpu"):
        ran = kprof("explain", rule)
        assert (ran.code, ran.err) == (0, "")


@pytest.mark.triton
def test_buckets_are_compiled_where_the_kernel_is_declared(kprof, folder):
    """LDS over the limit is found in the bucket that asks for it; other families say why they are not compiled."""
    large = {**BUCKET, "BLOCK_SIZE_M": 128, "BLOCK_SIZE_N": 256, "BLOCK_SIZE_K": 128, "num_warps": 8, "num_stages": 3}
    (folder / "gfx942-GEMM-A16W16-N=256-K=4096.json").write_text(json.dumps({"M_LEQ_64": BUCKET, "any": large}))
    (folder / "gfx942-GEMM-A16WFP4.json").write_text(json.dumps({"any": BUCKET}))
    paths = [folder / name for name in ("gfx942-GEMM-A16W16-N=256-K=4096.json", "gfx942-GEMM-A16WFP4.json")]
    ran = kprof("lint", *paths, "--compile", "-v")
    assert ran.code == 1, ran
    assert "KP742  any: " in ran.out
    assert "the launch will fail (kprof's gemm with these knobs, Triton " in ran.out
    assert "not compiled: no bundled kernel matches GEMM-A16WFP4; name one with --kernel" in ran.out
    assert "2 of 3 buckets were compiled, 1 not: -v says why" in ran.out


@pytest.mark.triton
def test_the_users_kernel_is_compiled(kprof, folder):
    """--kernel with a signature: what fails to compile is an error of the bucket."""
    path = folder / "mine.py"
    path.write_text(KERNEL)
    ran = kprof("lint", path, "--arch", "gfx942", "--target", f"{path}::scale", "--signature", "*fp32:16,*fp32:16,i32")
    assert ran.code == 1
    assert "KP713  scale/line 7: num_warps = 32 of 64 lanes" in ran.out
    assert "KP708  scale/line 7: BLOCK = 384" not in ran.out
    assert "KP744  scale/line 7: " in ran.out
    assert "1 of 2 buckets were compiled" in ran.out


def test_hostile_files_end_in_findings(kprof, folder, tmp_path):
    """Pipes, endless numbers, deep nesting and odd names: one line each, valid output, no command for GitHub's log."""
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    texts = {
        "gfx942-GEMM-A.json": '{"any": {"num_warps": 123456789012345678901234567890}}',
        "gfx942-GEMM-B.json": "[" * 100_000,
        "gfx942-GEMM-C.json": '{"any": {"num_warps": ' + "9" * 5000 + "}}",
        "gfx942-GEMM-D\n::error::x.json": '{"any": {"num_warp": 4}}',
        "E=1,N=9999999999999999999999,device_name=AMD_Instinct_MI300X.json": '{"99999999999999999999": {}}',
        "deep.py": "import triton\nC = triton.Config(" + "(" * 3000 + ")" * 3000 + ")",
        "minus.py": 'import triton\nC = [triton.Config({"A": ' + "-" * 500 + "1})]",
    }
    for name, text in texts.items():
        (hostile / name).write_text(text)
    (hostile / "gfx942-GEMM-E.json").write_bytes(b'\xff\xfe{"any": 1}')
    os.mkfifo(hostile / "gfx942-GEMM-F.json")
    ran = kprof("lint", hostile, "--json", tmp_path / "out.json", "--sarif", tmp_path / "out.sarif", "-v")
    assert ran.code == 1
    assert "gfx942-GEMM-F.json: is not a file" in ran.err
    assert not [line for line in ran.out.splitlines() if line.startswith("::")]
    assert ran.out.splitlines()[-1].endswith("1 could not be read")
    for name in ("out.json", "out.sarif"):
        assert json.loads((tmp_path / name).read_text())
    assert kprof("analyze", "kernel", hostile / "gfx942-GEMM-F.json").code == 2
