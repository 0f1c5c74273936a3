"""Limits that Triton checks only at a launch: LDS and threads per workgroup."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from kprof.errors import KprofError

# Maximum that AMD's runtime accepts on all known architectures: amdgpu-flat-work-group-size ends at 1024 (LLVM
# AMDGPUUsage).
THREADS_PER_WORKGROUP = 1024


@dataclass(frozen=True)
class LaunchProblem:
    """A hardware limit that a compiled kernel exceeds, which Triton itself detects only at a launch.

    Attributes:
        resource: ``lds`` or ``threads``.
        needed: bytes of LDS, or threads per workgroup.
        limit: maximum of the architecture.
    """

    resource: str
    needed: int
    limit: int

    def __str__(self) -> str:
        if self.resource == "lds":
            return f"needs {self.needed:,} bytes of LDS, a workgroup can have {self.limit:,}"
        return f"needs {self.needed:,} threads in a workgroup, the hardware allows {self.limit:,}"


def launch_problems(arch: str, metadata: Mapping[str, Any]) -> tuple[LaunchProblem, ...]:
    """Return the limits of an architecture that a compiled kernel exceeds.

    The metadata's ``shared`` is compared with the architecture's LDS per workgroup (``lds.bytes_per_workgroup``).
    """
    problems = []
    lds, limit = metadata.get("shared"), lds_limit(arch)
    if isinstance(lds, int) and limit is not None and lds > limit:
        problems.append(LaunchProblem("lds", lds, limit))
    warps, lanes = metadata.get("num_warps"), metadata.get("warp_size")
    if isinstance(warps, int) and isinstance(lanes, int) and warps * lanes > THREADS_PER_WORKGROUP:
        problems.append(LaunchProblem("threads", warps * lanes, THREADS_PER_WORKGROUP))
    return tuple(problems)


def lds_limit(arch: str) -> int | None:
    """Return the maximum bytes of LDS per workgroup; ``None`` for an architecture that kprof does not know."""
    from kprof.hardware.machine import load

    try:
        return load(arch).lds.bytes_per_workgroup
    except KprofError:
        return None
