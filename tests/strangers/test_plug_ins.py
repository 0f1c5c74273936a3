"""A plug-in in an installed distribution: its rules judge, and one that fails is named and costs nothing else."""

import json
from textwrap import dedent

import pytest

from tests.strangers.added_rule import RULE


def plug_in(copy, text: str) -> None:
    """An installed distribution with an entry point."""
    (copy.folder / "plugins/shaky.py").write_text(dedent(text))
    about = copy.folder / "plugins/shaky-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shaky\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[kprof.analyzers]\nshaky-rules = shaky\n")
    copy.write_kernel()


BROKEN = {
    "import": ("import no_such_module\n", "entry point shaky-rules (shaky)", "ModuleNotFoundError"),
    "no function": ("x = 1\n", "entry point shaky-rules (shaky)", "AttributeError"),
    "making": ("def analyzers():\n    yield 1 / 0\n", "entry point shaky-rules (shaky)", "ZeroDivisionError"),
    "judging": (
        """
        class Shaky:
            def analyze(self, facts):
                raise RuntimeError("out of luck")

        def analyzers():
            return [Shaky()]
        """,
        "shaky.Shaky",
        "RuntimeError: out of luck (shaky.py:4)",
    ),
    "nothing": (
        """
        class Shaky:
            def analyze(self, facts):
                return None

        def analyzers():
            return [Shaky()]
        """,
        "shaky.Shaky",
        "AttributeError",
    ),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_plug_in_that_raises_is_named_and_costs_nothing_else(copy, how):
    """One message, exit 2, and the rest of the report is there."""
    before = copy
    before.write_kernel()
    (sound,) = before.analysed()["kernels"]
    text, name, reason = BROKEN[how]
    plug_in(copy, text)
    report = copy.analysed(code=2)
    (kernel,) = report["kernels"]
    (failure,) = kernel["rules"]["failed"]
    assert failure["analyzer"] == name
    assert failure["reason"].startswith(reason)
    assert report["verdict"]["status"] == "cannot_tell"
    assert report["verdict"]["summary"].count(f"the analyzer {name} failed: {reason}") == 1
    assert kernel["findings"] == sound["findings"]
    assert kernel["rules"]["checked"] == sound["rules"]["checked"]
    printed = copy.kprof("analyze", "kernel", "k.amdgcn", code=2)
    assert printed.count(name) == 1
    (copy.folder / "kprof.toml").write_text('[[kernel]]\ntarget = "k.amdgcn"\n')
    assert f"the analyzer {name} failed" in copy.kprof("check", code=2)
    assert copy.kprof("diff", "k.amdgcn", "k.amdgcn", code=2).count(f"the analyzer {name} failed") == 1


@pytest.mark.triton
@pytest.mark.slow
def test_a_plug_in_that_raises_while_knobs_are_tried_is_named(copy):
    """Once, exit 2, and the advice is as it is without it; how many trials five seconds hold is another matter."""
    asked = ("-m", "kprof", "advise", "softmax", "--budget", "5", "-j", "1")
    sound = copy.python(*asked).stdout.splitlines()
    plug_in(copy, BROKEN["judging"][0])
    ran = copy.python(*asked, code=2)
    assert ran.stderr.count("the analyzer shaky.Shaky failed") == 1
    assert ran.stdout.splitlines()[:2] == sound[:2]
    assert "compiled in" in ran.stdout


def test_a_plug_in_may_bring_rules(copy):
    """As files of its own: they are listed, and judge."""
    plug_in(copy, RULE + "\n\ndef analyzers():\n    return [SleepingWavefront()]\n")
    assert "sleeping-wavefront" in copy.kprof("list", "rules")
    (kernel,) = copy.analysed()["kernels"]
    assert [f["rule"] for f in kernel["findings"]].count("KP499") == 2


TABLE = "gfx942-GEMM-A16W16.json"
COMMANDS = {
    "list rules": ("list", "rules"),
    "explain": ("explain", "KP301"),
    "diff": ("diff", "k.amdgcn", "k.amdgcn"),
    "lint": ("lint", TABLE),
    "analyze": ("analyze", "kernel", "k.amdgcn", "-q"),
    "report": ("report", "k.amdgcn", "-o", "page.html"),
    "tune": ("tune", "softmax", "--budget", "1"),
    "advise": ("advise", "softmax", "--budget", "1"),
}
TELL_IT_THEMSELVES = {"analyze", "report", "diff"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.triton, pytest.mark.slow] if name in {"tune", "advise"} else [])
        for name in COMMANDS
    ],
)
def test_every_command_names_a_plug_in_that_cannot_be_loaded(copy, name):
    """One message, exit 2; on standard output is what there is without it."""
    copy.write_kernel()
    (copy.folder / TABLE).write_text(json.dumps({"any": {"num_warps": 4, "num_stages": 2}}))
    sound = copy.python("-m", "kprof", *COMMANDS[name])
    plug_in(copy, "import no_such_module\n")
    ran = copy.python("-m", "kprof", *COMMANDS[name], code=2)
    assert (ran.stdout + ran.stderr).count("the analyzer entry point shaky-rules (shaky) failed") == 1
    if name not in {*TELL_IT_THEMSELVES, "tune", "advise"}:
        assert ran.stdout == sound.stdout
