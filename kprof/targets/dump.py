"""Write the compiler's output to files: each stage, the metadata, and the module before each pass."""

import json
import re
from pathlib import Path

from kprof.errors import TargetError
from kprof.targets.loaded import LoadedKernel

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def write_stages(kernel: LoadedKernel, folder: Path) -> list[Path]:
    """Write ``<kernel>.<arch>.ttir`` ... ``.hsaco``, ``.json``, and ``passes/000-<pass>.mlir``.

    Args:
        kernel: a compiled kernel; for other kernels nothing is written.
        folder: the folder, which is created if it does not exist.

    Returns:
        The files, in the order of the stages.

    Raises:
        KprofError: if a file cannot be written.
    """
    stem = _UNSAFE.sub("_", f"{kernel.name}.{kernel.arch.name}")
    files: dict[str, str | bytes] = {f"{stem}.{stage}": content for stage, content in kernel.stages.items()}
    if kernel.stages:
        files[f"{stem}.json"] = json.dumps(dict(kernel.metadata), indent=2, sort_keys=True, default=str) + "\n"
    for record in kernel.passes.records if kernel.passes is not None else ():
        files[f"{stem}.passes/{record.order:03}-{_UNSAFE.sub('_', record.name)}.mlir"] = record.before + "\n"
    written = []
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        except OSError as error:
            raise TargetError(f"cannot be written: {error.strerror}", path=str(path)) from None
        written.append(path)
    return written
