"""What a contained process tries: each attempt returns something where it succeeds, and raises where it is refused."""

# ruff: noqa: PTH104, PTH108, PTH123, PTH207, PTH208, SIM115
import contextlib
import ctypes
import fcntl
import glob
import os
import resource
import socket
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MACHINE = 0 if os.uname().machine == "x86_64" else 1
# Numbers on x86_64 and aarch64.
CALLS = {
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "ptrace": (101, 117), "unshare": (272, 97),
    "setns": (308, 268), "mount": (165, 40), "open_tree": (428, 428), "fsopen": (430, 430), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "pidfd_open": (434, 434),
    "kcmp": (312, 272), "inotify_init1": (294, 26), "process_vm_readv": (310, 270), "open_by_handle_at": (304, 265),
    "personality": (135, 92), "memfd_secret": (447, 447), "init_module": (175, 105), "mlockall": (151, 230),
    "truncate": (76, 45), "timer_create": (222, 107), "sched_setattr": (314, 274), "ioprio_set": (251, 30),
}  # fmt: skip
_LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Place:
    """What there is outside of the contained process: its parent, and a folder with a file."""

    parent: int
    outside: Path

    @property
    def secret(self) -> Path:
        return self.outside / "secret"


def _call(name: str, *arguments: Any) -> int:
    return _checked(_LIBC.syscall(CALLS[name][MACHINE], *arguments))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _other_commands() -> int:
    """Return how many processes there are whose command line can be read, besides this one."""
    own = {os.getpid()}
    found = 0
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += int(Path(path).parent.name) not in own and bool(Path(path).read_bytes())
    if not found:
        raise PermissionError("none")
    return found


def _shared_memory() -> int:
    made = _checked(_LIBC.shmget(0, 4096, 0o1600))
    return _checked(_LIBC.shmctl(made, 0, None))


def _queue() -> int:
    made = _checked(_LIBC.msgget(0, 0o1600))
    return _checked(_LIBC.msgctl(made, 0, None))


def _semaphore() -> int:
    made = _checked(_LIBC.semget(0, 1, 0o1600))
    return _checked(_LIBC.semctl(made, 0, 0))


def _posix_queue() -> int:
    made = _checked(_LIBC.mq_open(b"/kprof-attempt", os.O_RDWR | os.O_CREAT, 0o600, None))
    os.close(made)
    return _checked(_LIBC.mq_unlink(b"/kprof-attempt"))


def _owner_of_signals() -> int:
    reading, _ = os.pipe()
    return fcntl.fcntl(reading, fcntl.F_SETOWN, os.getppid() or 1)


def _large_pipe() -> int:
    reading, _ = os.pipe()
    return fcntl.fcntl(reading, 1031, 1 << 20)


def _mode(place: Place) -> int:
    before = place.secret.stat().st_mode
    place.secret.chmod(0o640 if before & 0o7 else 0o644)
    if place.secret.stat().st_mode == before:
        raise PermissionError("pretended")
    return 1


ATTEMPTS: Mapping[str, Callable[[Place], Any]] = {
    "System V shared memory": lambda _: _shared_memory(),
    "System V queue": lambda _: _queue(),
    "System V semaphore": lambda _: _semaphore(),
    "POSIX queue": lambda _: _posix_queue(),
    "memory without a file": lambda _: os.memfd_create("x"),
    "shared memory of /dev/shm": lambda _: (
        Path("/dev/shm/kprof-attempt").touch(),
        os.unlink("/dev/shm/kprof-attempt"),
    ),
    "a key": lambda _: _call("add_key", b"user", b"kprof-attempt", b"v", 1, -2),
    "control of keys": lambda _: _call("keyctl", 0, -2, 0),
    "the parent's processors": lambda p: str(os.sched_setaffinity(p.parent, os.sched_getaffinity(0))),
    "the parent's priority": lambda p: str(os.setpriority(os.PRIO_PROCESS, p.parent, 19)),
    "the parent's limits": lambda p: resource.prlimit(p.parent, resource.RLIMIT_CORE, (0, 0)),
    "the parent's command": lambda p: len(Path(f"/proc/{p.parent}/cmdline").read_bytes()),
    "the parent's environment": lambda p: len(Path(f"/proc/{p.parent}/environ").read_bytes()),
    "the parent's memory": lambda p: open(f"/proc/{p.parent}/mem", "rb").fileno(),
    "commands of all processes": lambda _: _other_commands(),
    "a signal to the parent": lambda p: str(os.kill(p.parent, 0)),
    "a signal to all": lambda _: str(os.kill(-1, 0)),
    "the owner of a pipe's signals": lambda _: _owner_of_signals(),
    "a pipe's size": lambda _: _large_pipe(),
    "surviving its guard": lambda _: _checked(_LIBC.prctl(1, 0, 0, 0, 0)),
    "passwords": lambda _: len(Path("/etc/shadow").read_bytes()),
    "a file outside": lambda p: len(p.secret.read_bytes()),
    "a folder outside": lambda p: len(os.listdir(p.outside)),
    "writing outside": lambda p: (p.outside / "made").write_text("x"),
    "a mode outside": _mode,
    "times of a file outside": lambda p: str(os.utime(p.secret, (1, 1))),
    "cutting a file outside": lambda p: str(os.truncate(p.secret, 1)),
    "an owner of a file outside": lambda p: str(os.chown(p.secret, os.getuid(), os.getgid())),
    "a link to a file outside": lambda p: str(os.link(p.secret, "linked")),
    "renaming a file outside": lambda p: str(os.rename(p.secret, p.outside / "other")),
    "a process": lambda _: subprocess.run([os.environ.get("SHELL", "/bin/sh"), "-c", "true"], check=True).returncode,
    "a fork": lambda _: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0)[1],
    "tracing": lambda p: _call("ptrace", 0x4206, p.parent, 0, 0),
    "namespaces": lambda _: _call("unshare", 0x02000000 | 0x10000000),
    "mounting": lambda _: _call("open_tree", -100, b"/", 1),
    "a new root": lambda _: str(os.chroot(".")),
    "a device": lambda _: str(os.mknod("device", 0o20600, os.makedev(1, 5))),
    "a socket": lambda _: socket.socket().fileno(),
    "a pair of sockets": lambda _: socket.socketpair()[0].fileno(),
    "BPF": lambda _: _call("bpf", 0, ctypes.create_string_buffer(struct_bpf := bytes(72)), len(struct_bpf)),
    "counters": lambda _: _call("perf_event_open", ctypes.create_string_buffer(bytes(128)), 0, -1, -1, 0),
    "faults of pages": lambda _: _call("userfaultfd", 0),
    "io_uring": lambda _: _call("io_uring_setup", 1, ctypes.create_string_buffer(bytes(120))),
    "a descriptor of the parent": lambda p: _call("pidfd_open", p.parent, 0),
    "watching files": lambda _: _call("inotify_init1", 0),
    "locked memory": lambda _: _call("mlockall", 1),
    "a clock's signals": lambda _: _call("timer_create", 0, None, ctypes.byref(ctypes.c_int())),
    "another number for a call": lambda _: _checked(_LIBC.syscall(0x40000000 + 39)),
    "higher limits": lambda _: str(resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))),
}


def outcomes(place: Place) -> dict[str, str]:
    """Make every attempt and return how each ended: ``done``, or the error."""
    found = {}
    for name, attempt in ATTEMPTS.items():
        try:
            attempt(place)
            found[name] = "done"
        except OSError as error:
            found[name] = f"{type(error).__name__} {error.errno}"
        except Exception as error:  # noqa: BLE001 - the test reads it
            found[name] = f"{type(error).__name__}: {error}"
    return found
