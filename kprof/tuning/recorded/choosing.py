"""Messages for a search in a capture that holds several kernels or launches; a search covers exactly one of them."""

from collections.abc import Mapping, Sequence

from kprof.captures.model import CapturedKernel
from kprof.errors import TargetError
from kprof.tuning.recorded.relaunch import RelaunchedProgram


def not_one(
    kernels: Sequence[CapturedKernel], lost: Mapping[str, str], program: RelaunchedProgram | None
) -> TargetError:
    """Return the error for a search that found several kernels, or no kernel that compiles."""
    if not kernels:
        return TargetError(f"there is no kernel to search: {'; '.join(lost.values())}")
    if program is not None:
        functions = list(dict.fromkeys(kernel.name for kernel in kernels))
        if len(functions) > 1:
            words = f"it launches {len(functions)} Triton functions: {', '.join(functions)}"
            return TargetError(words, hint="Tune one of them: kprof tune FILE.py::FUNCTION -- ARGS")
        each = ", ".join(f"{kernel.id} ({_launches(kernel)})" for kernel in kernels)
        words = f"{functions[0]} is launched as {len(kernels)} programs: {each}"
        return TargetError(words, hint="Tune one of them by its name: kprof tune FILE.py::NAME -- ARGS")
    names = ", ".join(dict.fromkeys(kernel.id for kernel in kernels))
    return TargetError(
        f"the target holds {len(kernels)} kernels: {names}", hint="Tune one of them: kprof tune CAPTURE::KERNEL"
    )


def other_launches(kernel: CapturedKernel) -> list[str]:
    """Return a note about launches with another grid than the ranked one, if there are any."""
    if len(kernel.grids) < 2:
        return []
    (grid, count), *others = kernel.grids.items()
    left = ", ".join(f"{number} of {'x'.join(map(str, each))}" for each, number in others[:3])
    more = f" and {len(others) - 3} further grids" if len(others) > 3 else ""
    return [f"ranked for the grid {'x'.join(map(str, grid))} ({_often(count)}); other launches: {left}{more}"]


def _launches(kernel: CapturedKernel) -> str:
    """Return what distinguishes one program of a function from the others: its number of launches and grid."""
    grid = next(iter(kernel.grids), None)
    often = _often(kernel.launches)
    return often if grid is None else f"{often}, grid {'x'.join(map(str, grid))}"


def _often(launches: int) -> str:
    return "1 launch" if launches == 1 else f"{launches:,} launches"
