"""What a recorded program gets instead of a compiled kernel: launches are noted; the rest waits for the compiler."""

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
    """Stands for Triton's ``CompiledKernel``.

    Attributes:
        src: Triton's source.
        hash: identifier of the specialisation.
        name: the kernel's name.
        request: what was asked of the compiler, as JSON.
        ticket: its compile.
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
        """Triton's launcher; the arguments follow function, metadata and hooks."""
        self._launch(self, (grid_x, grid_y, grid_z), stream, rest[5:])

    def launch_metadata(self, grid: Any, stream: Any, *args: Any) -> None:
        """Nothing: hooks are not called for a kernel that does not run."""
        del grid, stream, args

    def _init_handles(self) -> None:
        """There is nothing to load."""

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """A launcher for a grid, as ``kernel[grid](...)`` uses it."""

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
    """Metadata as Triton gives it: a named tuple."""
    values = {name: value for name, value in metadata.items() if name.isidentifier() and not name.startswith("_")}
    target = values.get("target")
    if isinstance(target, dict):
        from kprof.compiler.versions import api

        values["target"] = api().gpu_target(target.get("backend"), target.get("arch"), target.get("warp_size"))
    return namedtuple("KernelMetadata", sorted(values))(**values)  # noqa: PYI024  # its fields are known only here
