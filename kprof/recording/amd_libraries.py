"""AMD's libraries that Triton calls, where there are none: hipBLASLt computes with torch, Proton measures nothing."""

from typing import Any

from kprof.simulation.patches import Patches

_SESSIONS = ("activate", "activate_all", "deactivate", "deactivate_all", "finalize", "finalize_all")


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
    _proton(patches)


def _proton(patches: Patches) -> None:
    """Start no session, and let programs switch on and off what there is not."""
    try:
        from triton import knobs
        from triton._C.libproton import proton
    except ImportError:
        return
    if hasattr(knobs, "proton") and hasattr(knobs.proton, "disable"):
        patches.set_value(knobs.proton, "disable", True)
        for name in _SESSIONS:
            if hasattr(proton, name):
                patches.set(proton, name, _nothing)


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    """Do what a session that was not started does."""
