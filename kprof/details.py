"""What a page shows of a kernel beyond the document: its source beside its instructions, and pictures.

The document stays small and stable; this is as large as the kernel and is never written as JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceLine:
    """A line of a source file and what was compiled from it.

    Attributes:
        number: 1-based line.
        text: as in the file; ``None`` when the file is not shown.
        instructions: instructions that come from the line.
        share: of the predicted time of the kernel's wavefronts, 0 to 1; ``None`` when nothing was modelled.
        causes: why that time passes, cause (as in :data:`kprof.document.Bound`) to its share of the whole kernel's
            time, largest first.
        spills: scratch instructions.
        conflicts: cycles that LDS bank conflicts add to one iteration of the loop around it, for one wavefront;
            ``None`` when there are accesses whose conflicts are not known.
    """

    number: int
    text: str | None
    instructions: int = 0
    share: float | None = None
    causes: Mapping[str, float] = field(default_factory=dict)
    spills: int = 0
    conflicts: int | None = 0


@dataclass(frozen=True)
class SourceFile:
    """A source file as far as instructions come from it.

    Attributes:
        path: as the compiler recorded it.
        lines: the lines to show, ascending; gaps are lines that nothing came from.
        hidden: why the text is not shown; ``None`` when it is.
    """

    path: str
    lines: Sequence[SourceLine]
    hidden: str | None = None


@dataclass(frozen=True)
class CodeLine:
    """An instruction.

    Attributes:
        text: as written.
        kind: its class (``matrix``, ``vmem``, ...), as in :class:`kprof.inputs.amdgcn.InstructionClass`.
        place: position in :attr:`Details.files` and line there; ``None`` when the compiler recorded no user's line.
        share: of the predicted time of the kernel's wavefronts, 0 to 1.
        comment: what the compiler wrote behind it.
        position: in the program; -1 where it is not known.
    """

    text: str
    kind: str
    place: tuple[int, int] | None = None
    share: float = 0.0
    comment: str = ""
    position: int = -1


@dataclass(frozen=True)
class IrLine:
    """A line of the compiler's intermediate code.

    Attributes:
        number: 1-based line of its text.
        text: without its position in the source.
        place: position in :attr:`Details.files` and line there; ``None`` when it comes from no user's line.
    """

    number: int
    text: str
    place: tuple[int, int] | None = None


@dataclass(frozen=True)
class CodeBlock:
    """A basic block.

    Attributes:
        label: its label, empty when it has none.
        loop: header of the innermost loop around it, empty outside loops.
        depth: loops around it.
        code: its instructions in order.
    """

    label: str
    loop: str
    depth: int
    code: Sequence[CodeLine]


@dataclass(frozen=True)
class Picture:
    """An SVG file.

    Attributes:
        title: what it shows.
        svg: the whole file.
        about: a sentence to go with it.
    """

    title: str
    svg: str
    about: str = ""


@dataclass(frozen=True)
class CurveStep:
    """A range of amounts of a resource with one occupancy.

    Attributes:
        first, last: VGPRs of a lane, or bytes of LDS.
        waves_per_simd: occupancy there; 0 means that the kernel cannot be launched.
        current: whether the kernel is in this range.
    """

    first: int
    last: int
    waves_per_simd: float
    current: bool


@dataclass(frozen=True)
class Curve:
    """Occupancy over one resource, everything else left as it is.

    Attributes:
        resource: ``vgpr`` (registers of a lane) or ``lds`` (bytes of a workgroup).
        amount: what the kernel takes.
        steps: ascending, at least one.
    """

    resource: str
    amount: int
    steps: Sequence[CurveStep]


@dataclass(frozen=True)
class Details:
    """Everything beyond the document that is known of one kernel.

    Attributes:
        files: source files, the one with most instructions first.
        blocks: the program in order.
        control_flow: picture of blocks and loops; ``None`` when it is too large to be looked at.
        layouts: pictures of the layouts that the kernel's tensors have.
        curves: occupancy over VGPRs and LDS; empty when it is not known.
        ttgir: the TTGIR line by line; empty where there is none.
        landings: for each finding of the document the positions of the instructions that it is about; empty for what is
            about the launch or the kernel as a whole.
        notes: what is missing and why, one sentence each.
    """

    files: Sequence[SourceFile] = ()
    blocks: Sequence[CodeBlock] = ()
    control_flow: Picture | None = None
    layouts: Sequence[Picture] = ()
    curves: Sequence[Curve] = ()
    notes: Sequence[str] = ()
    ttgir: Sequence[IrLine] = ()
    landings: Sequence[Sequence[int]] = ()
