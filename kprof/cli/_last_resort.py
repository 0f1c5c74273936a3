"""What the program does where nothing else does: broken output, and errors of its own."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator

EXIT_BROKEN_PIPE = 141
"""As a shell reports a tool that SIGPIPE ended: with ``set -o pipefail`` an answer nobody read is no success."""
EXIT_OWN_ERROR = 70
"""sysexits.h: an internal software error."""


class Reader(BaseException):
    """The reader of standard output went away. Not an OSError: click would exit with 1, which means a regression."""


def open_streams() -> None:
    """Make the standard streams usable, however the program was started.

    A closed one is the null device: else the next file that is opened would get its number, and what is printed.
    Characters that the encoding lacks, and file names that are not UTF-8, are written as escapes.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            _to_null(number)
            # Open as long as the program runs.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _to_null(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != number:
            os.dup2(null, number)
            os.close(null)


@contextlib.contextmanager
def told_apart() -> Iterator[None]:
    """Around a command: a pipe whose reader left is :class:`Reader`."""
    try:
        yield
    except BrokenPipeError:
        raise Reader from None
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise Reader from None
        raise
    except Exception as group:
        # Servers run tasks side by side: what ends them comes as a group, whose name older Pythons do not know.
        leaves = list(_leaves(group))
        if leaves and all(isinstance(one, OSError) and one.errno == errno.EPIPE for one in leaves):
            raise Reader from None
        raise


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group of errors, of groups in it too; nothing for an error that is no group."""
    for one in getattr(error, "exceptions", ()):
        inner = list(_leaves(one))
        yield from inner or [one]


def flush() -> None:
    """Write what is printed and still held, while its failure can still be reported.

    Raises:
        OSError: it cannot be written.
    """
    if not sys.stdout.closed:
        sys.stdout.flush()


def drop_output() -> None:
    """Send to nowhere what cannot be written: the interpreter would complain about it at its end."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def report(error: BaseException) -> str:
    """One sentence about an error of kprof itself, which names the file that holds the rest."""
    import traceback

    # The innermost frames; what led there stands in the file.
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" at {os.path.basename(last[0].filename)}:{last[0].lineno}" if last else ""  # noqa: PTH119 - as in app
    what = f"an error of kprof itself ({type(error).__name__}{where})"
    try:
        path = _written(error)
    except OSError as failure:
        return f"{what}; the report could not be written: {failure.strerror or failure}"
    return f"{what}; the report that helps to fix it is in {path}"


def _written(error: BaseException) -> str:
    """Write the report, for the user's eyes only, and return its path."""
    import tempfile
    import traceback

    from kprof.output.redacting import redacted_text

    number, path = tempfile.mkstemp(prefix="kprof-crash-", suffix=".txt")
    with os.fdopen(number, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write("\n".join(_about()) + "\n\n")
        try:
            text = "".join(traceback.format_exception(error))
        except Exception:  # noqa: BLE001 - an exception whose text fails too
            text = "".join(traceback.format_tb(error.__traceback__)) + type(error).__name__ + "\n"
        file.write(redacted_text(text))
    return path


def _about() -> list[str]:
    """Return lines with the command line, the system, and the versions of kprof, Python and the packages it uses."""
    import platform
    import shlex
    from importlib.metadata import PackageNotFoundError, version

    from kprof.output.redacting import redacted
    from kprof.version import __version__

    lines = [
        f"command: {shlex.join(redacted(sys.argv))}",
        f"kprof: {__version__}",
        f"Python: {platform.python_version()} ({platform.python_implementation()})",
        f"system: {platform.platform()}",
    ]
    for name in ("triton", "torch", "msgspec", "typer", "rich", "pyyaml"):
        with contextlib.suppress(PackageNotFoundError):
            lines.append(f"{name}: {version(name)}")
    return lines
