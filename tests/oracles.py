"""LLVM's tools as outside oracles: the newest installed, if it is new enough to be one."""

import re
import shutil
import subprocess
from functools import cache

OLDEST = 19
"""LLVM 18 and older know neither gfx1200 nor version 6 of the code objects; Debian 12 has LLVM 14 on PATH."""

_NEWEST = 26


@cache
def llvm_tool(name: str) -> str | None:
    """Path of the newest ``llvm-mc``, ``llvm-objdump`` ... from :data:`OLDEST` on; ``None`` where there is none."""
    for candidate in (*(f"{name}-{version}" for version in range(_NEWEST, OLDEST - 1, -1)), name):
        found = shutil.which(candidate)
        if found is not None and (version := _version(found)) is not None and version >= OLDEST:
            return found
    return None


def why_none(name: str) -> str:
    """Why :func:`llvm_tool` found nothing."""
    found = shutil.which(name)
    if found is None:
        return f"{name} is not installed"
    return f"{name} on PATH is LLVM {_version(found) or '?'}; as an oracle {OLDEST} or later is needed"


@cache
def _version(tool: str) -> int | None:
    """Return LLVM's major version; each tool is started once, not once a skipped test."""
    text = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (\d+)\.", text)
    return int(found[1]) if found else None
