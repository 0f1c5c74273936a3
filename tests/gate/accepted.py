"""A folder of compiled kernels whose state was accepted, for tests that then change something."""

import shutil
from pathlib import Path

ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts"
MATMUL = ARTIFACTS / "gfx942" / "matmul.triton-3.9.0.amdgcn"
EXP = ARTIFACTS / "gfx942" / "scaled_exp.triton-3.9.0.amdgcn"


class Gate:
    """A folder of compiled kernels with an accepted baseline."""

    def __init__(self, root, kprof):
        self.root, self.kprof = root, kprof
        self.folder = root / "compiled"
        self.folder.mkdir()
        shutil.copy(MATMUL, self.folder / "matmul.amdgcn")
        shutil.copy(EXP, self.folder / "exp.amdgcn")
        self.config()
        assert self("--update-baseline").code == 0
        assert self().code == 0

    def config(self, text="", arch='["gfx942"]'):
        """The configuration, with more in front of its one kernel."""
        path = self.root / "kprof.toml"
        path.write_text(f'arch = {arch}\nbaseline = "b.json"\n{text}\n[[kernel]]\ntarget = "compiled"\n')

    def __call__(self, *options):
        return self.kprof("check", *options)

    def reason(self, code, *options):
        """The verdict's line of a check that ends with this code."""
        ran = self(*options)
        assert ran.code == code, ran.out
        return ran.out.splitlines()[-1]


def allowance(**keys):
    """One that is in force, by its keys."""
    lines = {"what": "vgpr_allocated", "reason": "x", **keys}
    return "[[allow]]\nuntil = 2999-01-01\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items())
