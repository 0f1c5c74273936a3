"""``kprof.budget``: limits on the kernels that a test launches."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

MARKER = "kprof_budget"
"""The marker that pytest knows the limits by: ``@pytest.mark.kprof_budget(vgpr_spills=0)`` is the same."""


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
    """A decorator for tests: every kernel that the test launches keeps these limits, under ``pytest --kprof``.

    The test then runs without a GPU, as under ``kprof capture``: kernels are compiled and not run. Without ``--kprof``
    it runs as if it had no decorator.

    Args:
        arch: architecture or product; what ``--kprof-arch`` says when ``None``.
        vgpr_spills: most VGPRs spilled.
        sgpr_spills: most SGPRs spilled.
        scratch_bytes: most scratch of a lane, bytes.
        lds_bytes: most LDS of a workgroup, bytes.
        vgpr_allocated: most vector registers that a wavefront occupies, AGPRs and padding included.
        sgpr: most SGPRs.
        waves_per_simd: fewest achievable wavefronts on a SIMD.
        time_us: longest predicted time of a launch, in microseconds.

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
