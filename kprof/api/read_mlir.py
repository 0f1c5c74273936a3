"""``kprof.read_mlir``: read a kernel's TTIR or TTGIR without its assembly, or a dump of all passes."""

import os
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from kprof.api.result import Result
from kprof.errors import InputError
from kprof.inputs import boundary

if TYPE_CHECKING:
    import pandas as pd

    from kprof.compiler.dumped import DumpedModule
    from kprof_analyzers.memory.lds_walk import LdsWalk


@dataclass(frozen=True, eq=False, repr=False)
class IntermediateCode(Result):
    """Analysis of MLIR modules without compiled code.

    Attributes:
        path: the file.
        modules: the module of a file, or for a dump the last module of each compile, with its passes.
        walks: for each module, the writes and reads of values in LDS.
    """

    path: str
    modules: "tuple[DumpedModule, ...]"
    walks: "tuple[LdsWalk, ...]"
    kind: ClassVar[str] = "measurements"

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that ``kprof ingest mlir --json`` writes."""
        modules = [
            {each.name: getattr(one, each.name) for each in fields(one) if each.name != "module"}
            | {"lds": asdict(walk)}
            for one, walk in zip(self.modules, self.walks, strict=True)
        ]
        return {"schema": "kprof.mlir/1", "path": self.path, "modules": modules}

    @property
    def summary(self) -> str:
        """The number of modules and the resources of each, in one line."""
        from kprof.reporters.mlir_text import verdict

        return verdict(self.modules, self.walks)

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per pass that changed a module, with the values after it.

        A module without passes has one row.
        """
        from kprof.api.frames import plain_frame

        rows = [{"kernel": one.kernel, **row} for one in self.modules for row in (one.passes or [one.measures])]
        return plain_frame(rows, dict.fromkeys(name for row in rows for name in row))


def read_mlir(path: "str | os.PathLike[str]") -> IntermediateCode:
    """Read a ``.ttir`` or ``.ttgir`` file, or a log that ``MLIR_ENABLE_DUMP=1`` wrote.

    Args:
        path: a module, or any text that contains MLIR dumps; other lines are ignored.

    Raises:
        InputError: the file is missing, too large, not MLIR, or a dump without a readable module.
    """
    from kprof.compiler.dumped import modules_of
    from kprof_analyzers.memory.lds_walk import walk_lds

    shown = os.fspath(path)
    text = boundary.read_text(shown, most=boundary.limit())
    modules = modules_of(text, shown)
    if not modules:
        raise InputError("no MLIR module can be read", path=shown)
    return IntermediateCode(shown, tuple(modules), tuple(walk_lds(one.module) for one in modules))
