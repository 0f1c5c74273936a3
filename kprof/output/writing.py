"""Write results to a file or standard output, and messages to standard error."""

import contextlib
import shutil
import stat
import sys
from pathlib import Path

from kprof.errors import KprofError
from kprof.output import progress
from kprof.output.headline import folded
from kprof.output.sink import StyledStream, document

_DESCRIPTORS = (Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd"))


def write_output(path: str, content: str | bytes) -> None:
    """Write a result to a file, or to standard output for ``-``.

    Files are replaced atomically; a pipe or a device, such as ``/dev/stdout``, is written to and not replaced. On
    standard output, characters that control a terminal are written as JSON escapes.

    Raises:
        KprofError: the path is a directory or cannot be written.
    """
    # A file name that is not UTF-8 becomes an escape that is valid in JSON too.
    data = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    if path == "-":
        sys.stdout.flush()
        with contextlib.suppress(UnicodeDecodeError):
            data = document(data.decode()).encode()
        # Write bytes, because documents are always UTF-8, whatever the terminal's encoding is.
        sys.stdout.buffer.write(data if data.endswith(b"\n") else data + b"\n")
        sys.stdout.buffer.flush()
        return
    target = Path(path)
    if _is_stream(target):
        try:
            sys.stdout.flush()
            with target.open("ab") as stream:
                stream.write(data)
        except OSError as error:
            raise KprofError(f"cannot write the output: {error.strerror}", path=path) from error
        return
    partial = target.with_name(f".{target.name}.partial")
    try:
        partial.write_bytes(data)
        partial.replace(target)
    except OSError as error:
        # The partial file may not exist, or may be on a read-only file system.
        with contextlib.suppress(OSError):
            partial.unlink()
        raise KprofError(f"cannot write the output: {error.strerror}", path=path) from error


def _is_stream(path: Path) -> bool:
    """Return whether a path is a pipe, a device, or a descriptor of this process."""
    if path.parent in _DESCRIPTORS:
        return True
    try:
        return not stat.S_ISREG(path.stat().st_mode) and not path.is_dir()
    except OSError:
        return False


def log(message: str) -> None:
    """Print a message on standard error, wrapped at word boundaries on a terminal."""
    progress.tell(None)
    width = shutil.get_terminal_size().columns if sys.stderr.isatty() else None
    print("\n".join(folded(message, width)), file=sys.stderr)


def told_by_hand(who: str, page: str) -> None:
    """Print which program normally starts this service, if a person started it and standard input is a terminal."""
    if sys.stdin is not None and sys.stdin.isatty():
        log(f"waiting for {who} on standard input, which normally starts this command (see {page}); Ctrl-C ends it")


def print_styled(text: str) -> None:
    """Print text coloured by :func:`kprof.output.colour.painted`, which has already escaped its control characters."""
    StyledStream(sys.stdout).write(text)
