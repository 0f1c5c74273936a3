"""What goes onto a page: targets are analysed, saved reports are read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.details import Details
from kprof.document import KernelReport
from kprof.errors import KprofError, near_hint
from kprof.output.writing import log

if TYPE_CHECKING:
    from kprof.targets.options import Options
    from kprof_analyzers.details import SourceText


@dataclass(frozen=True)
class Request:
    """What the command line asks for.

    Attributes:
        options: how sources are compiled.
        kernel: the only kernel that is wanted; ``None`` for all.
        folders: where sources of compiled targets are looked for.
    """

    options: "Options"
    kernel: str | None
    folders: Sequence[Path]


@dataclass(frozen=True)
class Entry:
    """A kernel of the page: its entry in the document, and what is known beyond."""

    kernel: KernelReport
    details: Details


def entries(targets: Sequence[str], request: Request) -> tuple[list[Entry], list[str]]:
    """Every kernel of the targets, and what could not be analysed and why.

    Raises:
        KprofError: no kernel has the name that is wanted.
    """
    from kprof.targets.target import is_report

    found: list[Entry] = []
    problems: list[str] = []
    names: dict[str, None] = {}
    for target in targets:
        # One by one: what was read before something cannot be counts.
        try:
            for entry in _saved(target, request) if is_report(Path(target)) else _analysed(target, request, names):
                names[entry.kernel.name] = None
                if request.kernel in {None, entry.kernel.name}:
                    found.append(entry)
        except KprofError as error:
            problems.append(str(error))
            log(f"kprof: {error}")
    if not found and names:
        assert request.kernel is not None
        hint = near_hint(request.kernel, names, "there are")
        raise KprofError(f"no kernel {request.kernel!r}", path=", ".join(targets), hint=hint)
    return found, problems


def _saved(target: str, request: Request) -> Iterator[Entry]:
    from kprof.diffing.reading import read_report
    from kprof.targets.target import Kind
    from kprof.targets.usable_options import check, given
    from kprof_analyzers.details import without_program

    path = Path(target)
    check(Kind.REPORT, target, given(request.options))
    document = read_report(path)
    for kernel in document.kernels:
        yield Entry(kernel, without_program(kernel))
    if document.verdict.status == "cannot_tell" and document.notes:
        raise KprofError(f"not everything was analysed when it was written: {document.notes[0]}", path=str(path))


def _analysed(target: str, request: Request, names: dict[str, None]) -> Iterator[Entry]:
    from kprof.targets.resolver import load
    from kprof_analyzers.details import details_of
    from kprof_analyzers.pipeline import analyze, facts_of

    sources = sources_of(target, request.folders)
    for loaded in load(target, request.options):
        names[loaded.name] = None
        if request.kernel in {None, loaded.name}:
            yield Entry(analyze(loaded, model=True), details_of(facts_of(loaded)[0], sources))


def sources_of(target: str, folders: Sequence[Path]) -> "SourceText":
    """A kernel that is compiled here shows its own files; what is compiled already may name any file it likes."""
    from kprof_analyzers.details import SourceText

    path = Path(target)
    if "::" in target or path.suffix == ".py" or not path.exists():
        return SourceText(trusted=True)
    return SourceText((*folders, path.parent) if path.is_file() else folders)
