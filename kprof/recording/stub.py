"""Replacement for compiled kernels in a recorded program: launches are recorded, other uses wait for the compile."""

import re
from collections import namedtuple
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.ticket import Ticket

_WAITS = frozenset({"metadata", "asm", "kernel", "n_regs", "n_spills", "n_max_threads", "metadata_group"})
_COUNT = re.compile(r"^\s*\.(vgpr_count|vgpr_spill_count):\s*(\d+)", re.MULTILINE)
MAX_THREADS = 1024


class RecordedKernel:
    """Replacement for Triton's ``CompiledKernel``.

    Attributes:
        src: Triton's source.
        hash: identifier of the specialisation.
        name: name of the kernel.
        request: the compile request as JSON values.
        ticket: ticket of the compile.
    """

    def __init__(
        self,
        source: Any,
        ticket: "Ticket",
        request: dict[str, Any],
        launch: Callable[..., None],
        load: Callable[["Ticket"], tuple[dict[str, Any], dict[str, str | bytes]]],
    ) -> None:
        self.src = source
        self.hash = ticket.id
        self.name = ticket.name
        self.request = request
        self.ticket = ticket
        self.module = 0
        self.function = 1
        self.packed_metadata = None
        self._launch = launch
        self._load = load

    def run(self, grid_x: int, grid_y: int, grid_z: int, stream: Any, *rest: Any) -> None:
        """Record a launch in place of Triton's launcher.

        In ``rest``, the kernel's arguments follow five others: function, two kinds of metadata and two hooks.
        """
        self._launch(self, (grid_x, grid_y, grid_z), stream, rest[5:])

    def launch_metadata(self, grid: Any, stream: Any, *args: Any) -> None:
        """Return None: hooks are not called for a kernel that does not run."""
        del grid, stream, args

    def _init_handles(self) -> None:
        """Do nothing: there is no code object to load."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """Return a launcher for a grid, as in ``kernel[grid](...)``."""

        def runner(*args: Any, stream: Any = None) -> None:
            x, y, z = (*grid, 1, 1)[:3]
            self._launch(self, (x, y, z), stream or 0, args)

        return runner

    def __getattr__(self, name: str) -> Any:
        if name not in _WAITS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        metadata, stages = self._load(self.ticket)
        self.asm = stages
        self.kernel = stages.get("hsaco", b"")
        self.metadata_group: dict[str, str] = {}
        self.metadata = _named(metadata)
        counts = dict(_COUNT.findall(str(stages.get("amdgcn", ""))))
        self.n_regs = int(counts.get("vgpr_count", 0))
        self.n_spills = int(counts.get("vgpr_spill_count", 0))
        self.n_max_threads = MAX_THREADS
        return self.__dict__[name]


def _named(metadata: dict[str, Any]) -> Any:
    """Return the metadata of a kernel as a named tuple, as Triton does."""
    values = {name: value for name, value in metadata.items() if name.isidentifier() and not name.startswith("_")}
    target = values.get("target")
    if isinstance(target, dict):
        from kprof.compiler.versions import api

        values["target"] = api().gpu_target(target.get("backend"), target.get("arch"), target.get("warp_size"))
    return namedtuple("KernelMetadata", sorted(values))(**values)  # noqa: PYI024  # its fields are known only at run time
