"""Compiling a Triton function as it is in memory, where the process that imports its file gets something else."""

import hashlib
import os
from dataclasses import replace
from pathlib import Path

from kprof.cache import location
from kprof.cache.folders import private_folder
from kprof.errors import KprofError, TargetError
from kprof.importing.functions import Function, load_function
from kprof.importing.uses import InMemory, differences, uses_of


def as_in_memory(path: str, name: str, memory: InMemory) -> Function:
    """The function of a file, or the one in memory where the file gives another one.

    Args:
        path: the file.
        name: the function's name there.
        memory: the function as it is in the process that asks.

    Raises:
        KprofError: they differ, and the one in memory cannot be given to this process; the first name that differs is
            in the message.
    """
    try:
        function = load_function(path, name)
    except KprofError:
        if not memory.text:
            raise
        different = [name]
    else:
        found = uses_of(function.jit)
        different = differences(memory.uses, found)
        if not different:
            return function
    reason = memory.reason
    if memory.text:
        own = load_function(written(memory.text, memory.stem), next(iter(memory.uses)))
        found = uses_of(own.jit)
        remaining = differences(memory.uses, found)
        if not remaining:
            return replace(own, in_memory=tuple(different))
        different, reason = remaining, "another process cannot be given it"
    first = different[0]
    here, there = memory.uses.get(first, "not used"), found.get(first, "not used")
    raise TargetError(
        f"{name} in memory differs from its file: {first} is {here} in memory and {there} in the file",
        path=path,
        hint=f"Save what is in memory to the file, or give kprof {path}::{name}: {reason}.",
    )


def written(text: str, stem: str) -> Path:
    """The file with this text in kprof's cache; the same text gives the same file.

    Raises:
        TargetError: it cannot be written.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    # What is in it will be run.
    folder = private_folder("functions") / digest
    path = folder / f"{stem}.py"
    try:
        location.make_folder(folder)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            partial = path.with_suffix(f".{os.getpid()}.part")
            partial.write_text(text, encoding="utf-8")
            partial.replace(path)
    except OSError as error:
        raise TargetError(f"the source of {stem} cannot be written: {error.strerror}", path=str(path)) from None
    return path
