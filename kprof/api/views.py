"""Base classes of views: analyses of recordings, such as ``kprof trace gaps``.

Each file in ``kprof/api/trace`` and ``kprof/api/counters`` is a view.

A view is one class, named after its file. Its docstring is the documentation, and its attributes define the options,
the computation, the tables and the verdict. The command, the function in :mod:`kprof`, data frames, text, JSON and HTML
are derived from the class.
"""

import math
import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import Parameter, Signature, cleandoc
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeVar

from typing_extensions import Self

from kprof.api.options import Path_
from kprof.api.result import Result
from kprof.errors import KprofError
from kprof.options.keywords import keywords
from kprof.options.measurements import AnswerOptions, TraceOptions
from kprof.options.option import Options
from kprof.output.headline import with_next
from kprof.output.quantities import milliseconds
from kprof.output.sink import one_line
from kprof.reporters.grids import Grid, ViewTable, chosen

if TYPE_CHECKING:
    import pandas as pd

    from kprof.inputs.completeness import Doubt
    from kprof.inputs.torch_profiler.issues import TraceIssue
    from kprof.inputs.torch_profiler.model import LinkedTrace
    from kprof_analyzers.profiles.timeline.files import LeftOut, TraceFile

V = TypeVar("V", bound="View")
T = TypeVar("T", bound="TraceView")
R = TypeVar("R")

PICTURES = (".svg", ".png")
GROUPS = {"trace": "trace", "counters": "counter"}
"""Name prefix of the view functions in each folder of views; a folder is also a group of commands."""


class TraceAdvice(NamedTuple):
    """Advice on what to do next.

    Attributes:
        saves_ns: maximum saving in ns; 0 if not known.
        text: what to do, if possible as code or a command to type.
        why: effect of the advice, or for a command the question that it answers.
        whole_ns: total time in ns, of which ``saves_ns`` is a part; 0 if not known.
        condition: condition of the maximum saving: "if each GEMM reached its limit".
    """

    saves_ns: float
    text: str
    why: str = ""
    whole_ns: float = 0.0
    condition: str = ""

    @property
    def sentence(self) -> str:
        """The advice as a sentence, with its reason and condition in brackets."""
        return _with_remarks(self.text, self.why, self.condition)

    @property
    def step(self) -> str:
        """The advice as a sentence, with the possible gain."""
        whole = f" of {milliseconds(self.whole_ns)}" if self.whole_ns else ""
        most = f"gain not known, at most {milliseconds(self.saves_ns)}{whole} ms" if self.saves_ns else "gain not known"
        return _with_remarks(self.text, self.why, ", ".join(filter(None, (most, self.condition))))


def _with_remarks(text: str, *remarks: str) -> str:
    found = "; ".join(filter(None, remarks))
    return f"{text} ({found})" if found else text


@dataclass(frozen=True, eq=False, repr=False)
class View(Result):
    """A view: an analysis of recordings, and its result.

    Attributes:
        help: one line for the list of commands.
        options: options of the function.
        display: further options of the command.
        given: names and descriptions of a fixed set of recordings; empty if the view takes any number of them.
        about: help text of the command's argument for recordings.
        limited: whether the computation limits the number of rows, so that the function has an argument ``rows``.
        has_picture: whether the view has a picture, :meth:`svg`.
        further: arguments that only the function has, with type, default and description.
    """

    help: ClassVar[str]
    options: ClassVar[type[Options]]
    display: ClassVar[type[AnswerOptions]] = AnswerOptions
    given: ClassVar[Mapping[str, str]] = MappingProxyType({})
    about: ClassVar[str] = "Files and folders, as kprof ingest reads them."
    limited: ClassVar[bool] = False
    has_picture: ClassVar[bool] = False
    further: ClassVar[Mapping[str, tuple[str, Any, str]]] = MappingProxyType({})

    @classmethod
    @abstractmethod
    def answer(cls: type[V], paths: Sequence[Path_], options: Any, **further: Any) -> V:
        """Compute the view of some recordings."""

    @classmethod
    def from_command(cls, paths: Sequence[str], options: Any, display: Any, *, quiet: bool) -> Self:  # noqa: ARG003 - used by views that show progress
        """Compute the view for a command; views with further arguments override this method."""
        return cls.answer(paths, options, **({"rows": display.top} if cls.limited else {}))

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of this view."""
        return ()

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """The result for each recording, with the recording's name."""
        return [("", self)]

    def leading(self, part: Any) -> Mapping[str, Any]:  # noqa: ARG002 - overrides return the recording
        """Return the values of columns that precede a table's own in data frames, such as the recording's path."""
        return {}

    def grids(self, part: Any, display: Any) -> list[Grid]:
        """Return the tables of one recording as the terminal shows them."""
        return [table.grid(part, display.top) for table in chosen(self.tables(), display.show)]

    def lines(self, display: Any) -> list[str]:
        """Return the lines of the text report."""
        shown: list[str] = []
        for name, part in self.parts:
            shown += [one_line(name)] if len(self.parts) > 1 else []
            grids = self.grids(part, display)
            for grid in grids:
                lines = grid.lines(titled=len(grids) > 1)
                shown += [*lines, ""] if lines else []
        return shown or ["nothing to show", ""]

    def is_bare(self, display: Any) -> bool:  # noqa: ARG002 - most views have a verdict
        """Return whether the text report is input for another program, in which case no verdict is printed."""
        return False

    @property
    @abstractmethod
    def issues(self) -> "Sequence[Doubt]":
        """Issues of the recordings that make values untrustworthy."""

    def warnings(self) -> Iterable[str]:
        """Return messages about the input, to be shown before the result."""
        return ()

    def remarks(self) -> Iterable[str]:
        """Return remarks, to be shown after the result."""
        return ()

    def verdict_of(self, display: Any) -> tuple[int, str]:  # noqa: ARG002 - used by comparisons
        """Return the exit code for limits such as ``--fail-over``; for code 2 (cannot tell), also the reason."""
        return 0, ""

    def to_frame(self, table: str = "") -> "pd.DataFrame":
        """Return a table as a data frame. Unknown values are ``NA``, never 0.

        Args:
            table: name of the table; by default the first.

        Raises:
            KprofError: the table is unknown.
        """
        from kprof.api.frames import plain_frame

        framed = [one for one in self.tables() if one.field_names]
        (found,) = chosen(framed, [table or framed[0].name])
        rows, leading = [], dict[str, Any]()
        for _, part in self.parts:
            leading = dict(self.leading(part))
            rows += [{**leading, **record} for record in found.records(part)]
        return plain_frame(rows, [*leading, *found.field_names])

    def to_html(self) -> str:
        """Return one self-contained page with all tables of this view."""
        from kprof.reporters.grids import PAGE_ROWS
        from kprof.reporters.html.grids import page

        display = AnswerOptions(top=PAGE_ROWS, show=tuple(table.name for table in self.tables()))
        sections = [(name, self.grids(part, display)) for name, part in self.parts]
        schema = self.document.get("schema", "")
        return page(self.summary, schema, [*self.warnings(), *self.remarks()], sections, self.pictures())

    def pictures(self) -> list[str]:
        """Return the pictures for the page, as SVG."""
        return [self.svg()] if self.has_picture else []

    def svg(self) -> str:
        """Return the picture as SVG."""
        raise NotImplementedError

    def formats(self) -> list[str]:
        """Return the file suffixes that :meth:`save` supports."""
        return [".html", *super().formats(), *(PICTURES if self.has_picture else ())]

    @classmethod
    def check_output(cls, path: str) -> None:
        """Check the suffix of an output file before anything is read.

        ``-`` prints the picture if the view has one, else the page.

        Raises:
            KprofError: the view has no format with this suffix.
        """
        endings = [".html", ".json", ".csv", *(PICTURES if cls.has_picture else ())]
        if path != "-" and Path(path).suffix.lower() not in endings:
            known = f"{', '.join(endings[:-1])} or {endings[-1]}"
            raise KprofError(f"the answer is written as {known}, got {path!r}", hint="--json - prints it as JSON")

    def write(self, display: Any) -> None:
        """Write a command's output file: a picture, a page or a table."""
        self.save(display.output)

    def _as(self, ending: str, target: Path) -> str | bytes:
        printed = str(target) == "-"
        if self.has_picture and (ending in PICTURES or printed):
            return _picture(ending, self.svg)
        if ending == ".html" or printed:
            return self.to_html()
        return super()._as(ending, target)


def _picture(ending: str, svg: Callable[[], str]) -> str | bytes:
    """Return a picture as SVG or PNG."""
    if ending != ".png":
        return svg()
    from kprof_analyzers.profiles.timeline.pictures.png import png

    return png(svg())


def draw(path: Path_, svg: Callable[[], str]) -> None:
    """Write a picture as SVG or PNG, depending on the suffix; ``-`` is standard output.

    Raises:
        KprofError: the suffix is unknown, the PNG converter is missing, or the file cannot be written.
    """
    from kprof.output.writing import write_output

    target = os.fspath(path)
    ending = Path(target).suffix.lower()
    if ending not in PICTURES and target != "-":
        raise KprofError(f"pictures are written as .svg or .png, got {target!r}")
    write_output(target, _picture(ending, svg))


@dataclass(frozen=True, eq=False, repr=False)
class TraceView(View):
    """A view of timelines. Times are in ns.

    Attributes:
        left_out: files of folders that could not be read, each with its ``path`` and the ``reason``.
        traces: the result for each trace.
    """

    left_out: "Sequence[LeftOut]"
    traces: "Sequence[Any]"
    kind: ClassVar[str] = "trace"
    about: ClassVar[str] = (
        "Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote."
    )
    needs_details: ClassVar[bool] = False
    """Whether the view needs the shapes of operators and the collectives, which take time to read."""
    shortest_frame_us: ClassVar[float] = math.inf
    """Minimum duration in µs of the Python frames to read for the view; frames of modules are always read."""
    place: ClassVar[int] = 90
    """Sort key of the view among the parts of ``kprof trace report``; 0 if the view is not part of the report."""

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **further: Any) -> Any:
        """Compute the result for one trace; may run in a worker process."""
        raise NotImplementedError

    @classmethod
    def of_file(cls, file: "TraceFile", options: Any, **further: Any) -> Any:
        """Compute the result for one file; views that need only a part of the file override this method."""
        from kprof_analyzers.profiles.timeline.files import open_trace

        return cls.of_trace(
            open_trace(file, details=cls.needs_details, shortest_frame_us=cls.shortest_frame_us), options, **further
        )

    @classmethod
    def answer(cls, paths: Sequence[Path_], options: Any, **further: Any) -> Self:
        """Compute the view of all files; further arguments are passed to :meth:`of_file`."""
        found, left_out = per_file(of_one, paths, options, view=cls, options=options, **further)
        return cls.combined(left_out, found)

    @classmethod
    def combined(cls, left_out: "Sequence[LeftOut]", found: Sequence[Any]) -> Self:
        """Combine the results of all files into the view."""
        return cls(left_out, found)

    @staticmethod
    def path_of(part: Any) -> str:
        """Return the path of the trace of one result."""
        path: str = part.info.path
        return path

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """The result for each trace, with the trace's name."""
        from kprof.reporters._trace_format import label

        return [(label(self.path_of(part), 90), part) for part in self.traces]

    def leading(self, part: Any) -> Mapping[str, Any]:
        """Return the trace's ``path``, which precedes the table's own columns in data frames."""
        return {"path": self.path_of(part)}

    @property
    def contents(self) -> dict[str, Any]:
        """The document without ``incomplete``, which :attr:`document` adds."""
        return {"schema": f"kprof.trace.{name_of(type(self))}/1", "traces": self.traces}

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The result in one line, without mention of incomplete data."""

    @property
    def incomplete(self) -> str:
        """A sentence with the missing data, the results that are unknown without it, and the fix; "" if complete."""
        from kprof.inputs.completeness import headline

        return headline(self.issues)

    def verdict_of(self, display: Any) -> tuple[int, str]:
        """Return exit code 2 (cannot tell) if kernels' times are missing, as in a truncated file."""
        from kprof.inputs.completeness import KERNEL_TIMES, cannot_tell

        return (2, "") if cannot_tell(self.issues, (KERNEL_TIMES,)) else super().verdict_of(display)

    @property
    def document(self) -> dict[str, Any]:
        """The JSON document that the command writes with ``--json``."""
        return {**self.contents, "incomplete": self.incomplete}

    @property
    def summary(self) -> str:
        """The result and what to do next, in one line, preceded by the data that the recording lacks."""
        from kprof.inputs.completeness import with_headline

        return one_line(with_headline(self.advised, self.issues))

    @property
    def advised(self) -> str:
        """The conclusion, with the advice that could save the most."""
        best = None if self.incomplete else self.first_advice
        return self.conclusion if best is None else with_next(self.conclusion, best.step)

    @property
    def first_advice(self) -> TraceAdvice | None:
        """The advice that could save the most; the first advice if no saving is known."""
        found = [each for part in self.traces for each in self.advice(part)]
        return max(found, key=lambda each: each.saves_ns, default=None)

    @property
    def basis(self) -> str:
        """Origin of the times: ``measured``, or ``predicted`` for traces that kprof wrote."""
        from kprof.inputs.predicted_traces import is_predicted

        paths = [self.path_of(part) for part in self.traces]
        known = {Path(path).is_file() and is_predicted(path) for path in paths}
        return " and ".join({False: "measured", True: "predicted"}[one] for one in sorted(known))

    @property
    def issues(self) -> "list[TraceIssue]":
        """Issues found while reading, in the order of traces; ``lost`` is the number of missing events."""
        return [issue for part in self.traces for issue in part.issues]

    def warnings(self) -> Iterable[str]:
        """Yield a message for each file that was skipped."""
        for one in self.left_out:
            yield f"kprof: left out: {one.path}: {one.reason}"

    def remarks(self) -> Iterable[str]:
        """Yield the issues found while reading, most lost events first."""
        for issue in sorted(self.issues, key=lambda one: -one.lost):
            missing = f" - {issue.lost:,} event{'s' if issue.lost > 1 else ''} missing" if issue.lost else ""
            yield f"remark: {issue}{missing}"

    @classmethod
    def advice(cls, part: Any) -> Iterable[TraceAdvice]:  # noqa: ARG003 - most views have no advice
        """Return advice on what to do next for one trace."""
        return ()


def of_one(file: "TraceFile", view: type[TraceView], options: Any, **further: Any) -> Any:
    """Compute a view's result for one file; may run in a worker process."""
    return view.of_file(file, options, **further)


def per_file(
    step: Callable[..., R], paths: Sequence[Path_], reading: TraceOptions, **further: Any
) -> "tuple[list[R], list[LeftOut]]":
    """Process each file with ``step``; return the results, and the files of folders that could not be read.

    Args:
        step: module-level function that processes a file.
        paths: files and folders.
        reading: number of processes that read the files, and repairs to apply to each file.
        further: further arguments of the step.

    Raises:
        InputError: a file that was named directly could not be read, or no file at all could be read.
    """
    from kprof.errors import InputError
    from kprof_analyzers.profiles.timeline.files import Failed, LeftOut, each_file, trace_files

    files = trace_files([Path(path) for path in paths], reading.repairs)
    found: list[R] = []
    missed: list[LeftOut] = []
    results = each_file(step, files, jobs=reading.jobs, scheduler=reading.scheduler, **further)
    for file, result in zip(files, results, strict=True):
        if not isinstance(result, Failed):
            found.append(result)
        elif file.found:
            missed.append(LeftOut(file.path, result.message.removeprefix(f"{file.path}: ")))
        else:
            raise InputError(result.message)
    if not found:
        raise InputError(f"none of {len(files)} files is a readable trace")
    return found, missed


def name_of(view: type[View]) -> str:
    """Return the name of a view, which is the name of its file."""
    return view.__module__.rpartition(".")[2]


def names_in(folder: str) -> list[str]:
    """Return the sorted names of the views in a folder of ``kprof/api``, without importing them."""
    files = Path(__file__).with_name(folder).glob("[!_]*.py")
    return sorted(file.stem for file in files)


def load_view(folder: str, name: str) -> type[View]:
    """Import and return a view."""
    module = import_module(f"kprof.api.{folder}.{name}")
    view: type[View] = getattr(module, f"{GROUPS[folder]}_{name}").view
    return view


def documentation(view: type[View]) -> tuple[str, str]:
    """Return a view's docstring without its attributes, split into the text and the examples of the command."""
    text = cleandoc(view.__doc__ or "").partition("\n\nAttributes:")[0]
    words, _, example = text.partition("\n\nExample:")
    return words, f"Example:{example}" if example else ""


def function_of(view: type[V], name: str = "") -> Callable[..., V]:
    """Create the public function of a view, such as ``kprof.trace_top``.

    The function takes recordings, and the view's options as keywords. kprof's own code may pass them as one object,
    ``options``.

    Args:
        view: the view.
        name: name of the function; by default the prefix of its folder and the view's name.
    """
    names = list(view.given)
    annotation = "str | os.PathLike[str]"
    own = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation) for name in names] or [
        Parameter("paths", Parameter.VAR_POSITIONAL, annotation=annotation)
    ]
    own += _further(view)
    limits = [Parameter("rows", Parameter.KEYWORD_ONLY, default=0, annotation="int")] if view.limited else []
    signature = Signature(
        [*own, *limits, Parameter("options", Parameter.KEYWORD_ONLY, annotation=view.options)],
        return_annotation=view.__name__,
    )

    def ask(*args: Any, **given: Any) -> V:
        bound = signature.bind(*args, **given).arguments
        options = bound.pop("options")
        paths = [bound.pop(name) for name in names] if names else list(bound.pop("paths", ()))
        return view.answer(paths, options, **bound)

    folder, _, file = view.__module__.rpartition(".")
    ask.__name__ = ask.__qualname__ = name or f"{GROUPS[folder.rpartition('.')[2]]}_{file}"
    ask.__module__ = view.__module__
    ask.__doc__ = _docstring(view)
    ask.__annotations__ = {each.name: each.annotation for each in signature.parameters.values()}
    vars(ask)["__signature__"] = signature
    made = keywords(ask)
    vars(made)["view"] = view
    return made


def _further(view: type[View]) -> list[Parameter]:
    return [Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default, _) in view.further.items()]  # fmt: skip


def _docstring(view: type[View]) -> str:
    words, _ = documentation(view)
    about = [f"{name}: {text}" for name, text in view.given.items()] or [f"paths: {view.about}"]
    about += ["rows: maximum number of rows to compute; 0: all."] if view.limited else []
    about += [f"{name}: {text}" for name, (_, _, text) in view.further.items()]
    lines = [words, "", "Args:", *(f"    {line}" for line in about), "    options: options of the view.", "", "Raises:"]
    lines += ["    InputError: a named recording is missing or unreadable, or a folder has no readable one."]
    return "\n".join([*lines, "    KprofError: an option cannot be used."])
