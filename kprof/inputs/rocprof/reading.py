"""Read files and folders of measurements."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from kprof.errors import InputError, KprofError
from kprof.inputs.rocprof.data import Data
from kprof.inputs.rocprof.database import is_database
from kprof.inputs.rocprof.format import recognise
from kprof.inputs.rocprof.formats import v3_perfetto
from kprof.inputs.rocprof.model import FileTables, ProfileFile, ProfileIssue
from kprof.inputs.rocprof.opening import EmptyFileError, Opened, files_of, open_file
from kprof.output.progress import step

_MOST_FILES = 20_000
_OTHER = "not-a-measurement"


def read(paths: str | Path | Iterable[str | Path], *, max_unpacked: int | None = None) -> Data:
    """Read measurement files of any ROCm profiler; each file's format is recognised by its content.

    Args:
        paths: files, ``.gz`` files and folders (searched recursively, including hidden files).
        max_unpacked: maximum unpacked bytes per ``.gz``; see :func:`kprof.inputs.boundary.gunzipped`.

    Returns:
        Tables, sources and issues. Files in a folder that are not measurements are skipped with a note. Damaged files
        in a folder are skipped with an error, as long as another file could be read.

    Raises:
        KprofError: if a file that ``paths`` names is unreadable or of no known format, or if no file in a folder could
            be read.
    """
    given = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not given:
        raise InputError("no file to read")
    parts: list[FileTables] = []
    issues: list[ProfileIssue] = []
    failed: list[KprofError] = []
    for path in given:
        for file in _counted(_files(path)):
            try:
                with step(f"reading {file.name}"):
                    part = read_file(file, max_unpacked=max_unpacked)
            except KprofError as error:
                if not path.is_dir():
                    raise
                failed.append(error)
                issues.append(_left_out(error, file))
                continue
            if part is not None and path.is_dir() and part.source.format == v3_perfetto.NAME:
                words = "left out: a Perfetto trace repeats the run's other files; name it explicitly to read it"
                issues.append(ProfileIssue(_OTHER, "note", words, str(file)))
            elif part is not None:
                part.describe(given=str(path))
                parts.append(part)
            elif path.is_dir():
                issues.append(_not_a_measurement(file))
            else:
                raise _unknown(file)
    if not parts:
        if failed:
            raise failed[0]
        raise _nothing_read_error(given[0], issues)
    _mark_workloads(parts)
    if len(parts) > 1 and any(part.lazy is None for part in parts):
        for part in parts:
            if part.lazy is not None:
                part.load()
                part.kernels = None
    return Data(parts, issues)


def _counted(files: list[Path]) -> Iterator[Path]:
    with step("reading", len(files) if len(files) > 1 else None, "files") as so_far:
        for so_far.done, file in enumerate(files):
            yield file


def _files(path: Path) -> list[Path]:
    found = files_of(path)
    if len(found) > _MOST_FILES:
        raise InputError(f"{len(found):,} files in this folder", path=str(path), hint="name the run's own folder")
    return found


def read_file(path: Path, *, max_unpacked: int | None = None) -> FileTables | None:
    """Read one file; return ``None`` if its format is unknown.

    Raises:
        KprofError: if the file cannot be read or is damaged beyond use.
    """
    opened = open_file(path, limit=max_unpacked)
    found = recognise(opened)
    if found is None:
        return None
    part = FileTables(ProfileFile(str(path), found.tool, found.name, role=found.role))
    if opened.damage:
        part.complain("damaged-packing", "error", opened.damage)
    if not is_database(opened.head) and not opened.head.lstrip().startswith(b"{") and bytes(opened.body[-1:]) != b"\n":
        words = "the last line has no line end: if the file was cut there, its last value may be too short"
        part.complain("no-final-line-end", "note", words)
        # Limit the search to the last MiB, because names are at most kilobytes long.
        last = bytes(opened.body[-(1 << 20) :]).rpartition(b"\n")[2]
        if last.count(b'"') % 2:
            excerpt = last[:200].decode("utf-8", "replace")
            part.complain("cut-record", "error", "the last line ends inside a quoted text: its record is cut off",
                          excerpt=excerpt)  # fmt: skip
    found.read(opened, part)
    return part


def _left_out(error: KprofError, file: Path) -> ProfileIssue:
    if isinstance(error, EmptyFileError):
        return ProfileIssue("empty-file", "note", "left out: the file is empty", str(file))
    place = f"{error.place}: " if error.place else ""
    return ProfileIssue("unreadable", "error", f"left out: {place}{error.message}", str(file))


def _other_command(opened: Opened) -> str | None:
    """Return the ``kprof ingest`` command that reads a file which contains no measurements, or ``None``."""
    from kprof.inputs import perfetto, results, xplane

    if opened.path.name.endswith((*perfetto.ENDINGS, *xplane.ENDINGS, ".hatchet_msgpack", ".chrome_trace")):
        return "trace"
    head = opened.head[: 1 << 16].lstrip()
    if b'"traceEvents"' in head or b'"schemaVersion"' in head:
        return "trace"
    if re.match(rb'\[\s*\{\s*"(?:children|frame)"', head):
        return "trace"
    if re.match(rb"Validator,", head):
        return "tunableop"
    if re.match(rb'\{\s*"code"\s*:', head) or b"; Begin ATT ASM" in head:
        return "thread-trace"
    return "results" if results.recognised(opened.head) else None


_WHAT = {
    "trace": "a trace of another profiler",
    "tunableop": "a TunableOp result file",
    "thread-trace": "a decoded thread trace",
    "results": "a result file of another ROCm tool",
}


def _not_a_measurement(file: Path) -> ProfileIssue:
    command = _other_command(open_file(file))
    words = _described(command) if command else "no known measurement format"
    return ProfileIssue(_OTHER, "note", f"left out: {words}", str(file))


def _described(command: str) -> str:
    return f"{_WHAT[command]}: kprof ingest {command} reads it"


def _nothing_read_error(folder: Path, issues: list[ProfileIssue]) -> KprofError:
    """Return the error for a folder without measurements, with the command that reads the folder's files."""
    others = [Path(issue.path) for issue in issues if issue.kind == _OTHER]
    found = [_described(command) for command in map(_other_command, map(open_file, others)) if command]
    hint = f"{len(found)} of {len(issues)} files are {found[0]}" if found else None
    return InputError("no measurement of a known format", path=str(folder), hint=hint)


def _unknown(file: Path) -> KprofError:
    opened = open_file(file)
    command = _other_command(opened)
    if command:
        return InputError(f"this is {_WHAT[command]}", path=str(file), hint=f"kprof ingest {command} {file}")
    first = opened.first_line[:60]
    begins = f"it begins with {first!r}; " if first else ""
    return InputError(
        "no known measurement format",
        path=str(file),
        hint=f"{begins}rocprof v1 to v3, rocpd and rocprof-compute output is supported",
    )


def _mark_workloads(parts: list[FileTables]) -> None:
    """Mark files next to a sysinfo file as passes of one Omniperf or rocprof-compute workload."""
    for system in [part for part in parts if part.source.format == "workload system"]:
        folder = str(Path(system.source.path).parent)
        for part in parts:
            if str(Path(part.source.path).parent) == folder and part.source.tool in {
                "rocprof", "rocprofv2", "rocprof-compute"
            }:  # fmt: skip
                format_ = "workload pass" if part.source.format == "kernel table" else part.source.format
                part.describe(folder=folder, tool=system.source.tool, version=system.source.version, format=format_)


__all__ = ["Opened", "read", "read_file"]
