"""``kprof.draw_control_flow``: draw the control flow of a kernel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kprof.api.drawing import Drawing
from kprof.errors import TargetError
from kprof.options.kernels import ControlFlowOptions
from kprof.options.keywords import keywords
from kprof.targets.target import TargetLike, resolve

if TYPE_CHECKING:
    from kprof.inputs.amdgcn.model import AssemblyKernel
    from kprof.targets.loaded import LoadedKernel


@dataclass(frozen=True)
class ControlFlow(Drawing):
    """A picture of a kernel's basic blocks, loops and hot spots.

    Attributes:
        program: the kernel's instructions, with ``blocks`` and ``loops``.
    """

    program: "AssemblyKernel"

    def to_dot(self) -> str:
        """Return the control flow as a Graphviz graph."""
        from kprof_analyzers.pictures.control_flow import to_dot

        return to_dot(self.program)


@keywords
def draw_control_flow(target: TargetLike, *, options: ControlFlowOptions) -> ControlFlow:
    """Draw the control flow of a kernel: blocks, loops, hot spots. No GPU is used.

    Args:
        target: as for :func:`kprof.analyze`.
        options: how the kernel is compiled.

    Raises:
        TargetError: the target or the kernel does not exist, or the target holds several kernels.
        CompileError: the kernel does not compile, or Triton is missing.
        InputError: a file cannot be read.
    """
    from kprof.targets.resolver import load
    from kprof_analyzers.autotuned import in_chosen_configuration
    from kprof_analyzers.pictures.control_flow import to_svg

    program = _chosen(
        list(map(in_chosen_configuration, load(target, options))), options.kernel, resolve(target).text
    ).program
    return ControlFlow(to_svg(program), program)


def _chosen(kernels: "Sequence[LoadedKernel]", name: str | None, target: str) -> "LoadedKernel":
    found = [kernel for kernel in kernels if name is None or kernel.program.name == name]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(sorted({kernel.program.name for kernel in kernels}))
    if not found:
        raise TargetError(f"no kernel {name!r}; there are {listed}", path=target)
    raise TargetError(f"holds several kernels: {listed}", path=target, hint="Choose one with --kernel and --arch.")
