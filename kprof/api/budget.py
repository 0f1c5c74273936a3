"""``kprof.budget``: limits on the kernels that a test launches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

MARKER = "kprof_budget"
"""Name of the pytest marker with the limits; ``@pytest.mark.kprof_budget(vgpr_spills=0)`` has the same effect."""


def budget(
    *,
    arch: str | None = None,
    vgpr_spills: int | None = None,
    sgpr_spills: int | None = None,
    scratch_bytes: int | None = None,
    lds_bytes: int | None = None,
    vgpr_allocated: int | None = None,
    sgpr: int | None = None,
    waves_per_simd: float | None = None,
    time_us: float | None = None,
) -> "pytest.MarkDecorator":
    """Return a decorator for tests: under ``pytest --kprof``, each kernel that a test launches must stay within limits.

    The test then runs without a GPU, as under ``kprof capture``: kernels are compiled but not run. Without ``--kprof``
    the decorator has no effect.

    Args:
        arch: architecture or product; ``None`` uses ``--kprof-arch``.
        vgpr_spills: maximum number of spilled VGPRs.
        sgpr_spills: maximum number of spilled SGPRs.
        scratch_bytes: maximum scratch memory per lane, in bytes.
        lds_bytes: maximum LDS per workgroup, in bytes.
        vgpr_allocated: maximum number of vector registers that a wavefront occupies, including AGPRs and padding.
        sgpr: maximum number of SGPRs.
        waves_per_simd: minimum number of achievable wavefronts per SIMD.
        time_us: maximum predicted time of a launch, in microseconds.

    Raises:
        ImportError: pytest is not installed.
    """
    import pytest

    given = {
        "arch": arch,
        "vgpr_spills": vgpr_spills,
        "sgpr_spills": sgpr_spills,
        "scratch_bytes": scratch_bytes,
        "lds_bytes": lds_bytes,
        "vgpr_allocated": vgpr_allocated,
        "sgpr": sgpr,
        "waves_per_simd": waves_per_simd,
        "time_us": time_us,
    }
    marker: pytest.MarkDecorator = getattr(pytest.mark, MARKER)
    return marker(**{name: value for name, value in given.items() if value is not None})
