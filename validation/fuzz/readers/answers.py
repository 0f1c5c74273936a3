"""What is remembered of a kernel's file. The oracle: an answer from the cache is the fresh one, whatever was edited.

The input is what the file and its helper hold after the edit, with a zero byte between them.
"""

import importlib.util
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.compiler import question_cache
from validation.fuzz.target import Target, check, put

_SOUND = (b"from _fuzzed_helper import N\nBLOCK = 4 * N\n", b"N = 16\n")
_NAMES = ("_fuzzed_kernel", "_fuzzed_helper")


@cache
def _modules(folder: Path) -> tuple[ModuleType, ...]:
    """Both files, imported once: what changes on the disk later is the edit."""
    found = []
    for name, content in reversed(tuple(zip(_NAMES, _SOUND, strict=True))):
        specification = importlib.util.spec_from_file_location(name, put(folder, f"{name}.py", content))
        assert specification is not None
        assert specification.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        found.append(module)
    return tuple(found)


def _fresh(folder: Path) -> Any:
    return [(folder / f"{name}.py").read_bytes().hex() for name in _NAMES]


def read(data: bytes, folder: Path) -> None:
    """Remember, edit, ask."""
    os.environ["KPROF_CACHE_DIR"] = str(folder / "cache")
    kernel = _modules(folder)[-1]
    for name, content in zip(_NAMES, _SOUND, strict=True):
        put(folder, f"{name}.py", content)
    question = {"kernel": "fuzzed"}
    question_cache.remember(question, _fresh(folder), kernel)
    for name, content in zip(_NAMES, data.partition(b"\0")[::2], strict=True):
        put(folder, f"{name}.py", content)
    remembered = question_cache.recall(question)
    check(same=remembered in (None, _fresh(folder)), what="an answer of another file")


TARGET = Target(read, words=("from _fuzzed_helper import N", "BLOCK = 4 * N", "N = 16", "import"), runs=200)
