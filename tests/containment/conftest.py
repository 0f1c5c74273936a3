"""A contained process that tries things and reports, for the tests of containment."""

import faulthandler
import json
import os
import signal
import struct
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kprof.api.live.containment import contain, mapped_bytes
from kprof.api.live.containment.kernel import UncontainedError

SLACK = 256 << 20
"""Bytes that a process may have besides what it has mapped already."""
EPERM, ENOSYS = 1, 38


def refuse_call(number: int, answer: int) -> None:
    """Have the kernel refuse one system call to this process, as containers do."""
    import ctypes

    from kprof.api.live.containment.kernel import LinuxCalls

    steps = ((0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | answer), (0x06, 0, 0, 0x7FFF0000))
    kernel = LinuxCalls(ctypes.CDLL(None, use_errno=True))
    kernel.forbid_new_privileges()
    kernel.filter_calls(b"".join(struct.pack("HBBI", *step) for step in steps))


def unshare_number() -> int:
    return {"x86_64": 272, "aarch64": 97}[os.uname().machine]


def refuse_namespaces() -> None:
    """Be in a container without CAP_SYS_ADMIN and without namespaces of users."""
    refuse_call(unshare_number(), EPERM)


def run(
    folder: Path,
    work: Callable[[], Any],
    *,
    before: Callable[[], None] | None = None,
    memory: int = SLACK,
    seconds: float = 20,
    network: bool = False,
    contained: bool = True,
) -> tuple[Any, int]:
    """Do work in a contained process and return what it gives, and how the process ended as a shell would say it."""
    reading, writing = os.pipe()
    parent = os.getpid()
    with warnings.catch_warnings():
        # A fork of a process with threads has one thread, which is what is wanted here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        _try(folder, work, before, writing, memory, seconds, parent, network, contained)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        data = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return (json.loads(data) if data else None), status


def _try(
    folder: Path,
    work: Callable[[], Any],
    before: Callable[[], None] | None,
    writing: int,
    memory: int,
    seconds: float,
    parent: int,
    network: bool,
    contained: bool,
) -> None:
    status = 99
    try:
        faulthandler.disable()
        os.chdir(folder)
        if before is not None:
            before()
        if contained:
            contain(folder, memory=mapped_bytes() + memory, seconds=seconds, parent=parent, network=network)
        os.write(writing, json.dumps(work()).encode())
        status = 0
    except UncontainedError as error:
        os.write(writing, json.dumps({"uncontained": error.message}).encode())
        status = 98
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 97
    except BaseException as error:  # noqa: BLE001 - the test reads it
        os.write(writing, json.dumps({"raised": f"{type(error).__name__}: {error}"}).encode())
    finally:
        os._exit(status)


def is_possible(before: Callable[[], None] | None = None) -> str:
    """Return why this system contains nothing, or "" if it does."""
    import tempfile

    if not sys.platform.startswith("linux"):
        return "Linux contains processes"
    with tempfile.TemporaryDirectory() as name:
        found, _ = run(Path(name), lambda: 1, before=before)
    return found.get("uncontained", "") if isinstance(found, dict) else ""


def die_by(number: int) -> None:
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
