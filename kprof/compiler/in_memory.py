"""Compile a Triton function as it is in memory, if that differs from the function in its file."""

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
    """Return the function of a file, or the function in memory if the two differ.

    Args:
        path: the file.
        name: name of the function in the file.
        memory: the function in the process that requests the compile.

    Raises:
        KprofError: if they differ and the one in memory cannot be recreated in this process. The message contains the
            first name that differs.
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
        different, reason = remaining, "it cannot be sent to another process"
    first = different[0]
    here, there = memory.uses.get(first, "not used"), found.get(first, "not used")
    raise TargetError(
        f"{name} in memory differs from its file: {first} is {here} in memory and {there} in the file",
        path=path,
        hint=f"Save the function in memory to the file, or pass kprof {path}::{name}. Reason: {reason}.",
    )


def written(text: str, stem: str) -> Path:
    """Write a text into a file in kprof's cache, and return the file; equal texts share a file.

    Raises:
        TargetError: if the file cannot be written.
    """
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    # The folder must be private, because the file will be executed.
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
