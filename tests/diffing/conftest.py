"""Entries of a report, made by hand."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from kprof.document import KernelReport, LoopFacts, Occupancy, Resources, Specialization
from kprof.findings import Finding, Location, Severity

_RESOURCES = {
    "vgpr": 100,
    "agpr": 0,
    "sgpr": 30,
    "vgpr_allocated": 104,
    "vgpr_spills": 0,
    "sgpr_spills": 0,
    "scratch_bytes": 0,
    "lds_bytes": 32768,
    "lds_limit_bytes": 65536,
    "num_warps": 4,
    "wavefront_size": 64,
}


class Made:
    """Builds entries; what is not named is as in a healthy kernel."""

    def kernel(self, name: str = "gemm", arch: str = "gfx942", **changes: Any) -> KernelReport:
        """An entry: resources by name, ``waves``, ``loops``, ``findings``, ``constexprs``, ``options``, ``spec``."""
        resources = {key: changes.pop(key, value) for key, value in _RESOURCES.items()}
        waves = changes.pop("waves", 4.0)
        spec = changes.pop("spec", None)
        if spec is None:
            constexprs = changes.pop("constexprs", {"BLOCK": 64})
            options = changes.pop("options", {"num_warps": 4})
            attributes = changes.pop("attributes", {"a_ptr": {"divisibility": 16}})
            spec = Specialization(
                signature={"a_ptr": "*fp16", "BLOCK": "constexpr"},
                constexprs=constexprs,
                options=options,
                attributes=attributes,
            )
        loops = changes.pop("loops", [self.loop()])
        occupancy = None if waves is None else Occupancy(waves, 8, 1, "vgpr", {})
        return KernelReport(
            name=name,
            arch=arch,
            source=Location("/src/gemm.py", 10),
            triton=changes.pop("triton", "3.9.0"),
            specialization=spec,
            resources=Resources(**resources),
            occupancy=occupancy,
            loops=loops,
            instructions=changes.pop("instructions", {"v_add_f32": 50, "global_store_dwordx4": 4, "s_endpgm": 1}),
            **changes,
        )

    def loop(self, first: int = 20, last: int = 30, **changes: Any) -> LoopFacts:
        """A hot innermost loop on some lines."""
        instructions = changes.pop("instructions", {"v_mfma_f32_32x32x8_f16": 16, "global_load_dwordx4": 8})
        values = {
            "header": ".LBB0_1",
            "depth": 1,
            "lines": {"/src/gemm.py": (first, last)},
            "instructions": instructions,
            "classes": {"matrix": 16, "vmem": 8},
            "waits": {"vmcnt(0)": 1},
            "flops": 1024,
            "bytes_per_wave": {"global_load": 8192},
            "hot": True,
        }
        return LoopFacts(**{**values, **changes})

    def finding(self, rule: str, severity: str = "warning") -> Finding:
        """A finding on some line."""
        return Finding(rule, "some-name", Severity(severity), "what was found", Location("/src/gemm.py", 22))

    def without(self, kernel: KernelReport, **changes: Any) -> KernelReport:
        """An entry with fields replaced; ``specialization=UNSET`` and the like."""
        return msgspec.structs.replace(kernel, **changes)

    UNSET = UNSET


@pytest.fixture(scope="session")
def made() -> Made:
    """The builder."""
    return Made()
