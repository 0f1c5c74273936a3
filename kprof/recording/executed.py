"""Recording kernels that really run: what Triton itself has compiled and launches."""

import hashlib
from pathlib import Path
from typing import Any

from kprof.captures import layout
from kprof.compiler import environment as switches
from kprof.recording import compile_results, describe
from kprof.recording.recorder import Recorder


def note(recorder: Recorder, kernel: Any, grid: list[int], stream: Any, args: tuple[Any, ...]) -> None:
    """Note a launch of Triton's ``CompiledKernel``; its products go into the capture the first time."""
    if not hasattr(kernel.src, "fn") or getattr(kernel.metadata.target, "backend", None) != "hip":
        return
    recorder.start()
    number = getattr(kernel, "kprof_number", None)
    if number is None:
        number = kernel.kprof_number = _keep(recorder, kernel)
    recorder.note_launch(number, kernel.src, grid, stream, args)


def _keep(recorder: Recorder, kernel: Any) -> int:
    identifier = hashlib.sha256(str(kernel.hash).encode()).hexdigest()[: layout.ID_LENGTH]
    metadata = {name: _plain(value) for name, value in kernel.metadata._asdict().items()}
    environment = {name: value for name, value in switches.relevant({}).items() if name != "TRITON_DEBUG"}
    options = {name: metadata[name] for name in ("num_warps", "num_stages", "waves_per_eu") if name in metadata}
    request = describe.request_of(kernel.src, kernel.metadata.target.arch, options, environment)
    folder = Path(recorder.settings.folder) / layout.KERNELS / identifier
    if not (folder / layout.RESULT).is_file():
        blobs = {stage: kernel.asm[stage] for stage in layout.STAGES if stage in kernel.asm}
        try:
            compile_results.place(
                folder, {"status": "ok", "triton": str(metadata.get("triton_version", ""))}, metadata, blobs
            )
        except OSError as error:
            recorder.journal.fail(error)
    return recorder.number(identifier, kernel.src, request)


def _plain(value: Any) -> Any:
    if hasattr(value, "backend") and hasattr(value, "arch"):
        return {"backend": value.backend, "arch": value.arch, "warp_size": value.warp_size}
    if isinstance(value, tuple | list | set | frozenset):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
