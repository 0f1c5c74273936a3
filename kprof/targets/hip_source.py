"""Compile HIP source to GPU assembly with an installed clang. The code is not run."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from kprof import children
from kprof.errors import CompileError, KprofError
from kprof.importing.permission import require
from kprof.inputs import boundary

SUFFIXES = (".hip", ".hip.cpp", ".cu", ".cpp", ".cc", ".cxx")
_TIMEOUT = 300.0
_MAX_BYTES = 64 * 1024 * 1024
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]hip/', re.MULTILINE)
_CLANG_NAMES = ("amdclang++", *(f"clang++-{version}" for version in range(24, 16, -1)), "clang++")
_OWN_HEADERS = ("-nogpuinc", "-nogpulib")


def is_hip(path: Path) -> bool:
    """Return whether a file is C++ or HIP source, by its name."""
    return path.name.endswith(SUFFIXES)


def compile_hip(path: Path, arch: str) -> str:
    """Return the assembly of a HIP source for one architecture, with source lines.

    Args:
        path: the source. Its folder is searched for headers, as compilers do.
        arch: architecture, for example ``gfx942``.

    Raises:
        KprofError: if there is no clang, it does not support the architecture, headers are missing, or the source has
            an error.
    """
    require(path, "compiled as HIP source")
    text = boundary.read_bytes(path, most=_MAX_BYTES).decode(errors="replace")
    clang = find_clang()
    if clang is None:
        raise CompileError(
            "HIP source needs a clang, and none was found",
            path=str(path),
            hint="Install ROCm or clang, or name one in KPROF_CLANG.",
        )
    headers = () if _INCLUDE.search(text) else _OWN_HEADERS
    with tempfile.TemporaryDirectory(prefix="kprof-hip-") as folder:
        out = Path(folder, "kernel.s")
        command = [clang, *_arguments(arch, headers), "-o", str(out), str(path.absolute())]
        failure = _run(command, folder, path)
        if failure is not None:
            raise _explained(failure, path, clang, arch)
        if not out.is_file():
            raise CompileError("clang wrote no assembly", path=str(path))
        return out.read_bytes()[:_MAX_BYTES].decode(errors="replace")


def find_clang() -> str | None:
    """Return the path of ``KPROF_CLANG``, else of ROCm's clang, else of the newest clang on PATH, or None."""
    own = os.environ.get("KPROF_CLANG")
    if own:
        return shutil.which(own)
    for root in (os.environ.get("ROCM_PATH"), "/opt/rocm"):
        found = shutil.which("clang++", path=str(Path(root, "llvm", "bin"))) if root else None
        if found is not None:
            return found
    return next((found for name in _CLANG_NAMES if (found := shutil.which(name)) is not None), None)


def _arguments(arch: str, headers: Sequence[str]) -> Iterator[str]:
    yield from ("-x", "hip", "--cuda-device-only", f"--offload-arch={arch}", *headers)
    yield from (
        "-O3",
        "-fno-discard-value-names",
        "-gline-tables-only",
        "-S",
        "-fno-color-diagnostics",
        "-Wno-everything",
    )


def _run(command: Sequence[str], folder: str, path: Path) -> str | None:
    """Run the compiler; return its error output if it failed, or None."""
    try:
        ran = children.run(
            command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=_TIMEOUT, check=False
        )
    except subprocess.TimeoutExpired:
        raise CompileError(f"clang took longer than {_TIMEOUT:g} s", path=str(path)) from None
    except OSError as error:
        raise CompileError(f"{command[0]} cannot be run: {error.strerror}", path=str(path)) from None
    if ran.returncode == 0:
        return None
    return ran.stderr or f"clang ended with exit status {ran.returncode}"


_ERROR = re.compile(
    r"^(?:(?P<file>[^\n:]+):(?P<line>\d+):\d+: )?(?:[\w+-]+: )?(?:fatal )?error: (?P<text>.+)$", re.MULTILINE
)


def _explained(printed: str, path: Path, clang: str, arch: str) -> KprofError:
    found = _ERROR.search(printed)
    text = found["text"].strip() if found else printed.strip().splitlines()[0]
    place = f"line {found['line']}" if found and found["line"] and Path(found["file"]).name == path.name else None
    hint = f"compiled by {clang}"
    if "file not found" in text or "ROCm" in text or "HIP" in text or "__clang_hip" in text:
        hint = f"HIP's headers are part of ROCm, which {clang} did not find; set ROCM_PATH or KPROF_CLANG"
    elif "unsupported HIP gpu architecture" in text or "unknown target CPU" in text or "invalid target ID" in text:
        hint = f"{clang} does not know {arch}; a newer clang may, see KPROF_CLANG"
    return CompileError(f"does not compile: {text}", path=str(path), place=place, hint=hint)
