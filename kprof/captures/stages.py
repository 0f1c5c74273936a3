"""Read the compiler's outputs from a capture; each file is read only when it is requested."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kprof.captures import layout
from kprof.errors import InputError, KprofError
from kprof.inputs import plain_files, triton_metadata


def read_stage(folder: Path, stage: str) -> str:
    """Return the text of a compiler output, such as ``ttgir``.

    Raises:
        KprofError: the output is missing or cannot be read.
    """
    path = folder / f"kernel.{stage}"
    if not plain_files.plain_folder(folder):
        raise InputError("this kernel was not compiled", path=str(folder))
    try:
        return plain_files.read_bytes(path, plain_files.STAGE_LIMIT).decode(errors="replace")
    except FileNotFoundError:
        raise InputError(f"the capture contains no {stage} of this kernel", path=str(folder)) from None


def read_metadata(folder: Path) -> Mapping[str, Any]:
    """Return a kernel's metadata from Triton without invalid entries; empty if it is missing or damaged."""
    path = folder / layout.METADATA
    try:
        data = plain_files.read_bytes(path, plain_files.LINE_LIMIT)
    except (OSError, KprofError):
        return {}
    return triton_metadata.decoded(data, str(path))[0]
