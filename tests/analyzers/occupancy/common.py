"""What the tests of this folder share."""

import importlib.util
import sys
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from kprof.hardware.machine import architectures, load
from kprof_analyzers.occupancy import OccupancyInput

SCRIPTS = Path(__file__).resolve().parents[3] / "validation"


@cache
def script(name):
    """A module of the validation folder."""
    spec = importlib.util.spec_from_file_location(name, SCRIPTS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def oracle():
    """The second opinion, which shares nothing with kprof."""
    return script("occupancy_oracle")


@st.composite
def demands(draw):
    """Any kernel on any architecture, launchable or not."""
    arch = load(draw(st.sampled_from(architectures())))
    rules = arch.occupancy
    size = draw(st.sampled_from(arch.wavefront_sizes))
    agpr = draw(st.integers(0, rules.max_agprs)) if draw(st.booleans()) else 0
    vgpr = draw(st.integers(0, rules.max_vgprs))
    plain = OccupancyInput(arch, vgpr, agpr, wavefront_size=size)
    padded = draw(st.none() | st.integers(plain.vgpr_total, rules.max_vgprs_total))
    sgpr = draw(st.integers(0, rules.max_sgprs))
    return OccupancyInput(
        arch,
        vgpr,
        agpr,
        sgpr=sgpr,
        lds_bytes=draw(st.just(0) | st.integers(0, arch.lds.bytes_per_workgroup + 2048)),
        num_warps=draw(st.sampled_from((1, 2, 4, 8, 16, 32)) | st.integers(1, 40)),
        wavefront_size=size,
        mode=draw(st.sampled_from(rules.modes)),
        padded_vgpr=padded,
        padded_sgpr=draw(st.none() | st.integers(sgpr, rules.max_sgprs)),
    )
