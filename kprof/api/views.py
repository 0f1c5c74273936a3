"""Views: questions to what was measured. Each file of ``kprof/api/trace`` and ``kprof/api/counters`` is one.

A view is one class: its name is the file's, its docstring the documentation, and its attributes are the options, the
computation, the tables and the verdict. The command, the function in :mod:`kprof`, data frames, text, JSON and HTML
follow from them.
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
"""Folders of views, which are groups of commands, to the beginning of their functions' names."""


class TraceAdvice(NamedTuple):
    """What to do next.

    Attributes:
        saves_ns: nanoseconds that it could save at most; 0 where that is not known.
        text: what to do, as it is typed where that can be typed.
        why: what that does or tells.
        whole_ns: the time that it would be saved from; 0 where that is not known.
        condition: when it would save that much: "if each GEMM reached its limit".
    """

    saves_ns: float
    text: str
    why: str = ""
    whole_ns: float = 0.0
    condition: str = ""

    @property
    def sentence(self) -> str:
        """What to do, with the reason and the condition in brackets."""
        return _with_remarks(self.text, self.why, self.condition)

    @property
    def step(self) -> str:
        """The sentence with what it could bring."""
        whole = f" of {milliseconds(self.whole_ns)}" if self.whole_ns else ""
        most = f"gain not known, at most {milliseconds(self.saves_ns)}{whole} ms" if self.saves_ns else "gain not known"
        return _with_remarks(self.text, self.why, ", ".join(filter(None, (most, self.condition))))


def _with_remarks(text: str, *remarks: str) -> str:
    found = "; ".join(filter(None, remarks))
    return f"{text} ({found})" if found else text


@dataclass(frozen=True, eq=False, repr=False)
class View(Result):
    """A question to recordings, and its answer.

    Attributes:
        help: one line for the list of commands.
        options: what the function takes.
        display: what the command takes besides.
        given: names of the recordings that are asked about; empty where any number is.
        about: help of an argument.
        limited: maximum numbers of rows are a matter of the computation: the function takes ``rows``.
        has_picture: the answer has a picture, :meth:`svg`.
        further: arguments of the function alone, with type, default and description.
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
        """Compute the answer for some recordings."""

    @classmethod
    def from_command(cls, paths: Sequence[str], options: Any, display: Any, *, quiet: bool) -> Self:  # noqa: ARG003 - for those that show progress
        """Compute the answer for a command; views with further arguments override it."""
        return cls.answer(paths, options, **({"rows": display.top} if cls.limited else {}))

    @classmethod
    def tables(cls) -> Sequence[ViewTable]:
        """Return the tables of the answer."""
        return ()

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """What was found in each recording, with its name."""
        return [("", self)]

    def leading(self, part: Any) -> Mapping[str, Any]:  # noqa: ARG002 - most say which recording it is
        """Return the columns before a table's own in a data frame."""
        return {}

    def grids(self, part: Any, display: Any) -> list[Grid]:
        """Return the tables of one recording as they are shown."""
        return [table.grid(part, display.top) for table in chosen(self.tables(), display.show)]

    def lines(self, display: Any) -> list[str]:
        """Return the text for people."""
        shown: list[str] = []
        for name, part in self.parts:
            shown += [one_line(name)] if len(self.parts) > 1 else []
            grids = self.grids(part, display)
            for grid in grids:
                lines = grid.lines(titled=len(grids) > 1)
                shown += [*lines, ""] if lines else []
        return shown or ["nothing to show", ""]

    def is_bare(self, display: Any) -> bool:  # noqa: ARG002 - most have a verdict
        """Whether the text is for another program, without the verdict."""
        return False

    @property
    @abstractmethod
    def issues(self) -> "Sequence[Doubt]":
        """What cannot be trusted in the recordings."""

    def warnings(self) -> Iterable[str]:
        """Return messages about what was read, to be shown before the answer."""
        return ()

    def remarks(self) -> Iterable[str]:
        """Return remarks, to be shown after the answer."""
        return ()

    def verdict_of(self, display: Any) -> tuple[int, str]:  # noqa: ARG002 - of comparisons
        """Return the exit code that limits in the options lead to, and why nothing can be told for code 2."""
        return 0, ""

    def to_frame(self, table: str = "") -> "pd.DataFrame":
        """Return a table as a data frame, a row for each of its rows. What is not known is ``NA``, never 0.

        Args:
            table: its name; the first one by default.

        Raises:
            KprofError: there is no such table.
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
        """Return one self-contained page with the tables of the answer."""
        from kprof.reporters.grids import PAGE_ROWS
        from kprof.reporters.html.grids import page

        display = AnswerOptions(top=PAGE_ROWS, show=tuple(table.name for table in self.tables()))
        sections = [(name, self.grids(part, display)) for name, part in self.parts]
        schema = self.document.get("schema", "")
        return page(self.summary, schema, [*self.warnings(), *self.remarks()], sections, self.pictures())

    def pictures(self) -> list[str]:
        """Return pictures as SVG for the page."""
        return [self.svg()] if self.has_picture else []

    def svg(self) -> str:
        """Return the picture as SVG."""
        raise NotImplementedError

    def formats(self) -> list[str]:
        """Endings that :meth:`save` takes."""
        return [".html", *super().formats(), *(PICTURES if self.has_picture else ())]

    @classmethod
    def check_output(cls, path: str) -> None:
        """Refuse a file that cannot be written, before anything is read; ``-`` prints the picture, else the page.

        Raises:
            KprofError: its ending is of no format that the answer has.
        """
        endings = [".html", ".json", ".csv", *(PICTURES if cls.has_picture else ())]
        if path != "-" and Path(path).suffix.lower() not in endings:
            known = f"{', '.join(endings[:-1])} or {endings[-1]}"
            raise KprofError(f"the answer is written as {known}, got {path!r}", hint="--json - prints it as JSON")

    def write(self, display: Any) -> None:
        """Write the file that a command was asked for: a picture, a page or a table."""
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
    """Write a picture as SVG or PNG, by the name's ending; ``-`` is standard output.

    Raises:
        KprofError: PNG without a converter, another ending, or a path that cannot be written.
    """
    from kprof.output.writing import write_output

    target = os.fspath(path)
    ending = Path(target).suffix.lower()
    if ending not in PICTURES and target != "-":
        raise KprofError(f"pictures are written as .svg or .png, got {target!r}")
    write_output(target, _picture(ending, svg))


@dataclass(frozen=True, eq=False, repr=False)
class TraceView(View):
    """A question to timelines. Times are in ns.

    Attributes:
        left_out: files of folders that could not be read, each with its ``path`` and the ``reason``.
        traces: what was found in each trace.
    """

    left_out: "Sequence[LeftOut]"
    traces: "Sequence[Any]"
    kind: ClassVar[str] = "trace"
    about: ClassVar[str] = (
        "Timelines of PyTorch, ROCm's profilers, JAX or Proton, folders of them, or what kprof ingest trace wrote."
    )
    needs_details: ClassVar[bool] = False
    """Whether operators' shapes and collectives are needed."""
    shortest_frame_us: ClassVar[float] = math.inf
    """Duration from which Python frames are needed; those of modules always are."""
    place: ClassVar[int] = 90
    """Where the view stands in ``kprof trace report``; 0: nowhere."""

    @classmethod
    def of_trace(cls, trace: "LinkedTrace", options: Any, **further: Any) -> Any:
        """Compute the answer for one trace. It runs in whichever process reads the trace."""
        raise NotImplementedError

    @classmethod
    def of_file(cls, file: "TraceFile", options: Any, **further: Any) -> Any:
        """Compute the answer for one file; for views that need not read the whole of it."""
        from kprof_analyzers.profiles.timeline.files import open_trace

        return cls.of_trace(
            open_trace(file, details=cls.needs_details, shortest_frame_us=cls.shortest_frame_us), options, **further
        )

    @classmethod
    def answer(cls, paths: Sequence[Path_], options: Any, **further: Any) -> Self:
        """Compute the answer file by file; further arguments are those of :meth:`of_file`."""
        found, left_out = per_file(of_one, paths, options, view=cls, options=options, **further)
        return cls.combined(left_out, found)

    @classmethod
    def combined(cls, left_out: "Sequence[LeftOut]", found: Sequence[Any]) -> Self:
        """Return the answer for what was found in each file."""
        return cls(left_out, found)

    @staticmethod
    def path_of(part: Any) -> str:
        """Return the path of the trace that a part of the answer is of."""
        path: str = part.info.path
        return path

    @property
    def parts(self) -> Sequence[tuple[str, Any]]:
        """What was found in each trace, with its name."""
        from kprof.reporters._trace_format import label

        return [(label(self.path_of(part), 90), part) for part in self.traces]

    def leading(self, part: Any) -> Mapping[str, Any]:
        """Return the columns before a table's own in a data frame: the ``path``."""
        return {"path": self.path_of(part)}

    @property
    def contents(self) -> dict[str, Any]:
        """The answer as a document, without the judgement of the recording."""
        return {"schema": f"kprof.trace.{name_of(type(self))}/1", "traces": self.traces}

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The answer in one line, as if the recording were complete."""

    @property
    def incomplete(self) -> str:
        """What the recording lacks, what is therefore unknown and the fix; "" for a complete recording."""
        from kprof.inputs.completeness import headline

        return headline(self.issues)

    def verdict_of(self, display: Any) -> tuple[int, str]:
        """Return 2 where not even the kernels' times are known, as of a file that is cut off; the summary says why."""
        from kprof.inputs.completeness import KERNEL_TIMES, cannot_tell

        return (2, "") if cannot_tell(self.issues, (KERNEL_TIMES,)) else super().verdict_of(display)

    @property
    def document(self) -> dict[str, Any]:
        """Everything, as the command writes it with ``--json``."""
        return {**self.contents, "incomplete": self.incomplete}

    @property
    def summary(self) -> str:
        """The answer in one line with what to do next, behind what the recording lacks."""
        from kprof.inputs.completeness import with_headline

        return one_line(with_headline(self.advised, self.issues))

    @property
    def advised(self) -> str:
        """The conclusion, with the advice that could save most."""
        best = None if self.incomplete else self.first_advice
        return self.conclusion if best is None else with_next(self.conclusion, best.step)

    @property
    def first_advice(self) -> TraceAdvice | None:
        """The advice that could save most; where no saving is known, the first one."""
        found = [each for part in self.traces for each in self.advice(part)]
        return max(found, key=lambda each: each.saves_ns, default=None)

    @property
    def basis(self) -> str:
        """How the times are known: ``measured``, or ``predicted`` where kprof wrote the trace."""
        from kprof.inputs.predicted_traces import is_predicted

        paths = [self.path_of(part) for part in self.traces]
        known = {Path(path).is_file() and is_predicted(path) for path in paths}
        return " and ".join({False: "measured", True: "predicted"}[one] for one in sorted(known))

    @property
    def issues(self) -> "list[TraceIssue]":
        """What was met while reading, trace by trace; ``lost`` is how many events are missing by it."""
        return [issue for part in self.traces for issue in part.issues]

    def warnings(self) -> Iterable[str]:
        """Return which files were left out."""
        for one in self.left_out:
            yield f"kprof: left out: {one.path}: {one.reason}"

    def remarks(self) -> Iterable[str]:
        """Return what was met while reading, the most serious first."""
        for issue in sorted(self.issues, key=lambda one: -one.lost):
            missing = f" - {issue.lost:,} event{'s' if issue.lost > 1 else ''} missing" if issue.lost else ""
            yield f"remark: {issue}{missing}"

    @classmethod
    def advice(cls, part: Any) -> Iterable[TraceAdvice]:  # noqa: ARG003 - most have none
        """Return what to do next for one trace, for ``kprof trace report``."""
        return ()


def of_one(file: "TraceFile", view: type[TraceView], options: Any, **further: Any) -> Any:
    """Compute a view's answer for one file, in whichever process reads it."""
    return view.of_file(file, options, **further)


def per_file(
    step: Callable[..., R], paths: Sequence[Path_], reading: TraceOptions, **further: Any
) -> "tuple[list[R], list[LeftOut]]":
    """Return a step's result for each file, and the files of folders that could not be read.

    Args:
        step: a module's function of a file.
        paths: files and folders.
        reading: who reads them, and what is repaired in each.
        further: arguments of the step.

    Raises:
        InputError: no file at all could be read, or one that was named, not found in a folder.
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
    """Return the name of a view: its file's."""
    return view.__module__.rpartition(".")[2]


def names_in(folder: str) -> list[str]:
    """Return the names of the views in a folder of ``kprof/api``, sorted; nothing is imported."""
    files = Path(__file__).with_name(folder).glob("[!_]*.py")
    return sorted(file.stem for file in files)


def load_view(folder: str, name: str) -> type[View]:
    """Import a view."""
    module = import_module(f"kprof.api.{folder}.{name}")
    view: type[View] = getattr(module, f"{GROUPS[folder]}_{name}").view
    return view


def documentation(view: type[View]) -> tuple[str, str]:
    """Return what a view's docstring says to everyone, and its examples of the command."""
    text = cleandoc(view.__doc__ or "").partition("\n\nAttributes:")[0]
    words, _, example = text.partition("\n\nExample:")
    return words, f"Example:{example}" if example else ""


def function_of(view: type[V], name: str = "") -> Callable[..., V]:
    """Return the public function of a view: ``kprof.trace_top``.

    It takes recordings and the view's options by their names, or inside kprof a group of them as ``options``.

    Args:
        view: the view.
        name: of the function; by default its folder's with the view's.
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
    lines = [words, "", "Args:", *(f"    {line}" for line in about), "    options: of the view.", "", "Raises:"]
    lines += ["    InputError: a named recording is missing or cannot be read, or none in a folder can."]
    return "\n".join([*lines, "    KprofError: an option cannot be used."])
