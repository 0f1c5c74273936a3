"""``kprof check`` on the command line: outputs, updates, targets that are only read, and what its page says."""

import json
import re
import sys
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from kprof.gate.config import Allowance, Budget, Config, GateProgram, KernelEntry, load
from kprof.reporters.json_document import schema

ROOT = Path(__file__).resolve().parents[2]
ASSEMBLY = ROOT / "tests" / "artifacts" / "gfx942"


def page():
    """The documentation."""
    return (ROOT / "docs" / "ci.md").read_text()


def test_every_key_is_documented():
    """Each key of the configuration stands in ``docs/ci.md``."""
    for kind in (Config, KernelEntry, GateProgram, Budget, Allowance):
        for name in kind.__struct_fields__:
            if name not in {"kernel", "program", "allow"} or kind is not Config:
                assert re.search(rf"`[^`\n]*{name}[^`\n]*`|^{name} =", page(), re.MULTILINE), name


def test_examples_of_the_page_are_valid(tmp_path):
    """The TOML on the page is a configuration."""
    text = "\n".join(re.findall(r"```toml\n(.*?)```", page(), re.DOTALL))
    path = tmp_path / "pyproject.toml"
    path.write_text(text)
    config = load(path)
    assert config.budget.max_vgpr_spills == 0
    assert config.allow[0].limit == 12


def test_every_option_is_documented(kprof):
    """Each option of the command stands on the page or is one that all commands have."""
    ran = kprof("check", "--help")
    common = {"--arch", "--jobs", "--verbose", "--quiet", "--no-color", "--help", "--baseline"}
    for option in set(re.findall(r"--[a-z-]+", ran.out)) - common:
        assert f"`{option}" in page() or f" {option}" in page(), option


@pytest.fixture
def assembly(tmp_path, monkeypatch):
    """A configuration of one assembly file, which needs no Triton."""
    (source,) = ASSEMBLY.glob("matmul.triton-3.9*.amdgcn")
    (tmp_path / "k.amdgcn").write_bytes(source.read_bytes())
    config = tmp_path / "kprof.toml"
    config.write_text('arch = ["gfx942"]\nfail_on = "never"\n[[kernel]]\ntarget = "k.amdgcn"\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    return config


def test_files_are_read_without_triton(assembly, kprof, monkeypatch):
    """Assembly is judged where there is no Triton, and unknown LDS is said to be unknown."""
    monkeypatch.setitem(sys.modules, "triton", None)
    with assembly.open("a") as file:
        file.write("budget = {max_vgpr_spills = 0}\n")
    assert kprof("check").code == 0
    assembly.write_text(assembly.read_text().replace("max_vgpr_spills = 0", "max_lds_bytes = 65536"))
    ran = kprof("check")
    assert ran.code == 2
    assert "lds_bytes is not known" in ran.out


def test_document_keeps_the_schema(assembly, kprof):
    """``--json`` on standard output is the document and nothing else; annotations go elsewhere."""
    ran = kprof("check", "--json", "-", "--github")
    document = json.loads(ran.out)
    Draft202012Validator(schema()).validate(document)
    assert document["verdict"]["status"] == "ok"


def test_only_one_format_on_standard_output(assembly, kprof):
    """Two would be mixed up."""
    ran = kprof("check", "--json", "-", "--sarif", "-")
    assert ran.code == 2
    assert "only one of --json and --sarif" in ran.err


def test_what_a_target_cannot_use_is_cannot_tell(assembly, kprof):
    """Sizes of what is compiled already would be ignored."""
    with assembly.open("a") as file:
        file.write("shape = {M = 64}\n")
    ran = kprof("check")
    assert ran.code == 2
    assert "k.amdgcn is a file of compiled code and does not use --shape" in " ".join(ran.out.split())


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("no.amdgcn", "no such file or directory"),
        ("no.py::f", "no.py"),
        ("no_such_kernel", "no_such_kernel"),
        ("kprof.toml", "not AMDGCN assembly"),
    ],
)
def test_lost_targets_are_cannot_tell(assembly, kprof, target, message):
    """The other kernel is still judged."""
    with assembly.open("a") as file:
        file.write(f'[[kernel]]\ntarget = "{target}"\n')
    ran = kprof("check")
    assert ran.code == 2
    assert message in ran.out
    assert ran.out.splitlines()[-1].startswith("cannot tell: 1 of 2 checks could not be judged:")


def test_missing_baseline_is_said(assembly, kprof):
    """Nothing is compared, and the hint names the command."""
    assembly.write_text('baseline = "b.json"\n' + assembly.read_text())
    ran = kprof("check")
    assert ran.code == 2
    assert "--update-baseline" in ran.err
    assert kprof("check", "--update-baseline").code == 0
    assert kprof("check").code == 0


def test_nothing_for_this_architecture_is_no_success(assembly, kprof):
    """An empty selection must not pass for a good one."""
    ran = kprof("check", "--arch", "gfx1100")
    assert ran.code == 2


def test_no_configuration_is_one_message(tmp_path, monkeypatch, kprof):
    """With the least that is needed."""
    monkeypatch.chdir(tmp_path)
    ran = kprof("check")
    assert ran.code == 2
    assert "[[tool.kprof.kernel]]" in ran.err
    assert "Traceback" not in ran.err


def test_update_without_a_file_is_refused(assembly, kprof):
    """There is no default name that would be written by surprise."""
    ran = kprof("check", "--update-baseline")
    assert ran.code == 2
    assert "no baseline file is named" in ran.err


def test_defaults_are_left_out_when_written():
    """What is encoded of a configuration is what was set."""
    assert msgspec.json.decode(msgspec.json.encode(KernelEntry(target="x"))) == {"target": "x"}
