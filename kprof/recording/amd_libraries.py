"""AMD's libraries that Triton calls, where there are none: hipBLASLt computes with torch, Proton measures nothing."""

from typing import Any

from kprof.simulation.patches import Patches


class HipblasLt:
    """Triton's binding of hipBLASLt; its products are calls of torch's operators, and are listed as these.

    Args:
        workspace: memory that the library could use.
    """

    def __init__(self, workspace: Any) -> None:
        self._workspace = workspace

    def matmul(self, a: Any, b: Any, c: Any) -> None:
        """Write ``a`` (M x K) times ``b`` (N x K), transposed, to ``c`` (M x N)."""
        c.copy_(a.float() @ b.float().t())

    def gemm(self, a: Any, b: Any, c: Any, d: Any, alpha: float, beta: float) -> None:  # noqa: PLR0917  # as BLAS has it
        """Write ``alpha`` times that product and ``beta`` times ``c`` to ``d``."""
        d.copy_(alpha * (a.float() @ b.float().t()) + beta * c.float())


def install(patches: Patches) -> None:
    """Change the bindings that the installed Triton has."""
    from triton._C import libtriton

    hipblas = getattr(getattr(libtriton, "amd", None), "hipblas", None)
    if hasattr(hipblas, "HipblasLt"):
        patches.set(hipblas, "HipblasLt", HipblasLt)
    try:
        from triton import knobs
    except ImportError:
        return
    if hasattr(knobs, "proton") and hasattr(knobs.proton, "disable"):
        patches.set_value(knobs.proton, "disable", True)
