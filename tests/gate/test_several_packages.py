"""A repository of several packages, and a plug-in, on the steps that are shipped."""

import shutil
import subprocess

import pytest

from tests.gate.services import ROOT, Machine, fake_installation

pytestmark = [pytest.mark.slow, pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")]
CONFIG = 'arch = ["gfx942"]\nbaseline = "b.json"\nfail_on = "never"\n[[kernel]]\ntarget = "out"\n'
SPILLS = (".vgpr_spill_count: 0", ".vgpr_spill_count: 9")


class Packages:
    """A kernel each in ``attention`` and ``norm``, with a configuration and a baseline; and what else is installed."""

    def __init__(self, folder):
        self.plugins = folder / "plugins"
        self.plugins.mkdir()
        self.program = fake_installation(folder, self.plugins)
        self.root = folder / "work"
        (self.root / ".git").mkdir(parents=True)
        self.machine = Machine(folder, self.root)
        for package, kernel in (("attention", "matmul"), ("norm", "scaled_exp")):
            out = self.root / package / "out"
            out.mkdir(parents=True)
            shutil.copy(ROOT / f"tests/artifacts/gfx942/{kernel}.triton-3.9.0.amdgcn", out / "k.amdgcn")
            (out.parent / "kprof.toml").write_text(CONFIG)
            self.accept(package)

    def accept(self, package):
        variables = {**self.machine.environment, "KPROF_CACHE_DIR": str(self.machine.temp / "kprof-cache")}
        command = [self.program, "check", "--update-baseline"]
        subprocess.run(command, cwd=self.root / package, env=variables, check=True, capture_output=True, timeout=100)

    def spill(self, package):
        path = self.root / package / "out" / "k.amdgcn"
        assert SPILLS[0] in path.read_text()
        path.write_text(path.read_text().replace(*SPILLS))

    def on_both(self, package):
        """Exit code and verdict of GitHub's step and of GitLab's job."""
        github = self.machine.github({"working-directory": package}, only="Check kernels")
        variables = {"KPROF_DIRECTORY": package, "KPROF_VENV": str(self.program.parents[1])}
        gitlab = self.machine.gitlab(variables, first=1)
        assert (github.code, github.verdict) == (gitlab.code, gitlab.verdict)
        return github.code, github.verdict


@pytest.fixture
def packages(tmp_path):
    """A repository of two."""
    return Packages(tmp_path)


def test_each_package_has_a_verdict_of_its_own(packages):
    """What one kernel loses is told in its package; the root has no configuration and cannot tell."""
    packages.spill("norm")
    code, verdict = packages.on_both("attention")
    assert (code, verdict.partition(";")[0]) == (0, "ok: 1 check, nothing is worse than the baseline")
    assert packages.on_both("norm") == (
        1,
        "regression: 1 of 1 check fail: scaled_exp on gfx942: 9 VGPRs spilled, the baseline has 0",
    )
    assert packages.machine.github({}, only="Check kernels").outputs["verdict"] == "cannot tell"


def test_another_package_s_configuration_is_not_taken_in_silence(packages):
    """The package's own was taken away: the root's, in which nothing is worse, made this one's verdict ok."""
    (packages.root / "kprof.toml").write_text(CONFIG.replace('"out"', '"attention/out"'))
    packages.accept(".")
    packages.spill("norm")
    (packages.root / "norm" / "kprof.toml").unlink()
    code, verdict = packages.on_both("norm")
    assert code == 0
    assert "; configured by ../kprof.toml" in verdict
    assert "configured by" not in packages.on_both(".")[1]


def test_a_plug_in_that_cannot_judge_is_never_ok(packages):
    """It was installed by the job after the state was accepted; what was kept before is not taken for its answer."""
    assert packages.on_both("norm")[0] == 0
    (packages.plugins / "shaky.py").write_text("import no_such_module\n")
    about = packages.plugins / "shaky-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shaky\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[kprof.analyzers]\nshaky = shaky\n")
    code, verdict = packages.on_both("norm")
    assert code == 2
    assert "shaky" in verdict
