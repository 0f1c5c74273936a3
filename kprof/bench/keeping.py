"""Keep what the compiler made of the Triton kernels that a measurement ran."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_STAGES = ("ttir", "ttgir", "llir", "amdgcn", "hsaco", "ptx", "cubin")
_LONGEST = 100


@contextmanager
def compiled_kernels(jit_function: Any = None) -> Iterator[list[Any]]:
    """Collect the compiled kernels that are launched meanwhile, each once and in their order.

    Args:
        jit_function: the class whose ``run`` launches a kernel and returns it; Triton's by default.
    """
    if jit_function is None:
        from triton.runtime.jit import JITFunction

        jit_function = JITFunction
    found: list[Any] = []
    launch = vars(jit_function)["run"]

    def run(self: Any, *args: Any, **options: Any) -> Any:
        compiled = launch(self, *args, **options)
        if hasattr(compiled, "asm") and all(compiled is not one for one in found):
            found.append(compiled)
        return compiled

    jit_function.run = run
    try:
        yield found
    finally:
        jit_function.run = launch


def keep_kernels(kernels: Sequence[Any], folder: Path) -> None:
    """Write each stage of the compiler and the metadata of some kernels, named as in Triton's cache.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for compiled in kernels:
        metadata = compiled.metadata
        fields = metadata._asdict() if hasattr(metadata, "_asdict") else dict(metadata)
        name = _free_name(folder, re.sub(r"\W", "_", str(fields.get("name", "kernel")))[:_LONGEST])
        for stage in _STAGES:
            content = compiled.asm.get(stage)
            if isinstance(content, str | bytes):
                data = content.encode() if isinstance(content, str) else content
                (folder / f"{name}.{stage}").write_bytes(data)
        (folder / f"{name}.json").write_text(json.dumps(fields, default=_plain))


def _free_name(folder: Path, name: str) -> str:
    """A name that no kernel in the folder has: another specialisation has the same."""
    names = [name, *(f"{name}_{number}" for number in range(2, 1000))]
    return next((each for each in names if not (folder / f"{each}.json").exists()), name)


def _plain(value: Any) -> Any:
    """Triton's description of the target as its fields; anything else that JSON cannot hold as text."""
    return dict(vars(value)) if hasattr(value, "__dict__") else str(value)
