"""Triton's assembler in a process of its own: some texts end it, and that is the end of no fuzzer.

LLVM leaves with ``exit`` or a signal where it gives up. A child of the fuzzer would take either for a failure of the
reader, by handlers that it inherited.
"""

import os
import pickle
import resource
import struct
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from typing import IO

from validation.fuzz.target import ROOT

_SIZE = struct.Struct("<Q")
_SECONDS = 2
_MEMORY = 4 << 30


@cache
def available() -> bool:
    """Whether there is a Triton that assembles: 3.9 or later."""
    if find_spec("triton") is None:
        return False
    try:
        from triton.backends.amd.compiler import assemble_amdgcn
    except ImportError:
        return False
    return callable(assemble_amdgcn)


def assembled(text: str, arch: str) -> bytes:
    """The object that LLVM makes of a text; empty where it refuses."""
    worker = _worker()
    assert worker.stdin is not None
    assert worker.stdout is not None
    _send(worker.stdin, pickle.dumps((text, arch)))
    return _received(worker.stdout)


@cache
def _worker() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "validation.fuzz.assembler"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def _send(file: IO[bytes], data: bytes) -> None:
    file.write(_SIZE.pack(len(data)) + data)
    file.flush()


def _received(file: IO[bytes]) -> bytes:
    """What :func:`_send` sent; empty at the end of the file."""
    head = file.read(_SIZE.size)
    return file.read(_SIZE.unpack(head)[0]) if len(head) == _SIZE.size else b""


def _in_child(text: str, arch: str) -> bytes:
    from triton.backends.amd.compiler import assemble_amdgcn

    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            # Some texts keep LLVM busy for ever, or fill the memory: it takes them as little as those that it refuses.
            resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            # LLVM says there what is wrong with the text.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            with os.fdopen(there, "wb") as file:
                file.write(assemble_amdgcn(text, arch, ""))
        finally:
            os._exit(0)
    os.close(there)
    with os.fdopen(here, "rb") as file:
        data = file.read()
    os.waitpid(child, 0)
    return data


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Assemble until nobody asks any more."""
    while request := _received(requests):
        _send(answers, _in_child(*pickle.loads(request)))


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
