"""Handling of broken output streams and of kprof's own errors, at the outermost level of the program."""

import contextlib
import errno
import os
import sys
from collections.abc import Iterator

EXIT_BROKEN_PIPE = 141
"""Exit code if the process that reads kprof's output has closed the pipe.

Shells report SIGPIPE like this, so ``set -o pipefail`` sees a failure.
"""
EXIT_OWN_ERROR = 70
"""Exit code of an internal error, as EX_SOFTWARE in sysexits.h."""


class Reader(BaseException):
    """Raised if the process that reads kprof's output has closed the pipe.

    This class is no OSError, because click exits with 1 for a broken pipe, and 1 means a regression.
    """


def open_streams() -> None:
    """Make the standard streams usable, regardless of how the program was started.

    A closed stream is replaced by the null device; otherwise the next opened file would get its descriptor and receive
    the output. Characters that the encoding lacks, and file names that are not UTF-8, are written as escapes.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            _to_null(number)
            # The null device stays open until the program ends.
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
    """Replace errors in this context by :class:`Reader` if they mean that the reader has closed the pipe."""
    try:
        yield
    except BrokenPipeError:
        raise Reader from None
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise Reader from None
        raise
    except Exception as group:
        # Servers run tasks in parallel, so their errors arrive as an ExceptionGroup, a class that Python 3.10 lacks.
        leaves = list(_leaves(group))
        if leaves and all(isinstance(one, OSError) and one.errno == errno.EPIPE for one in leaves):
            raise Reader from None
        raise


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors in an exception group and its nested groups; yield nothing for any other error."""
    for one in getattr(error, "exceptions", ()):
        inner = list(_leaves(one))
        yield from inner or [one]


def flush() -> None:
    """Flush standard output now, because a failure at exit could no longer be reported.

    Raises:
        OSError: the output cannot be written.
    """
    if not sys.stdout.closed:
        sys.stdout.flush()


def drop_output() -> None:
    """Discard output that cannot be written; otherwise the interpreter would report an error at exit."""
    with contextlib.suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)


def report(error: BaseException) -> str:
    """Write a crash report and return one sentence about the internal error with the report's path."""
    import traceback

    # The message names only the innermost frame; the report has the whole traceback.
    last = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" at {os.path.basename(last[0].filename)}:{last[0].lineno}" if last else ""  # noqa: PTH119 - as in app
    what = f"an error of kprof itself ({type(error).__name__}{where})"
    try:
        path = _written(error)
    except OSError as failure:
        return f"{what}; the report could not be written: {failure.strerror or failure}"
    return f"{what}; the crash report is in {path}"


def _written(error: BaseException) -> str:
    """Write the crash report to a file that only the user can read, and return its path."""
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
    """Return lines with the command line, the system, and the versions of kprof, Python and the packages in use."""
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
