"""Details of a kernel that pages show in addition to its report: source lines with their instructions, and pictures.

The report's document is small and stable. The details are as large as the kernel and are never written as JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class SourceLine:
    """A source line and the instructions compiled from it.

    Attributes:
        number: 1-based line.
        text: text of the line; ``None`` if the file is not shown.
        instructions: number of instructions that come from the line.
        share: share of the predicted time of the kernel's wavefronts, 0 to 1; ``None`` if the kernel was not modelled.
        causes: share of the whole kernel's time that is spent on this line, by cause (as in
            :data:`kprof.document.Bound`), largest first.
        spills: number of scratch instructions.
        conflicts: cycles that LDS bank conflicts add to one iteration of the enclosing loop, for one wavefront;
            ``None`` when the conflicts of some accesses are not known.
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
    """A source file with the lines that instructions come from.

    Attributes:
        path: path as the compiler recorded it.
        lines: lines to show, ascending; lines without instructions may be missing.
        hidden: reason why the text is not shown; ``None`` if it is shown.
    """

    path: str
    lines: Sequence[SourceLine]
    hidden: str | None = None


@dataclass(frozen=True)
class CodeLine:
    """One instruction.

    Attributes:
        text: assembly text.
        kind: instruction class (``matrix``, ``vmem``, ...), as in :class:`kprof.inputs.amdgcn.InstructionClass`.
        place: index in :attr:`Details.files` and line number in that file; ``None`` if the compiler recorded no line in
            the user's files.
        share: share of the predicted time of the kernel's wavefronts, 0 to 1.
        comment: comment that the compiler wrote behind the instruction.
        position: position in the program; -1 if not known.
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
        number: 1-based line number in the intermediate code.
        text: text without its source location.
        place: index in :attr:`Details.files` and line number in that file; ``None`` if the line has no source location
            in the user's files.
    """

    number: int
    text: str
    place: tuple[int, int] | None = None


@dataclass(frozen=True)
class CodeBlock:
    """A basic block.

    Attributes:
        label: label of the block, or "".
        loop: label of the header of the innermost enclosing loop, or "" outside loops.
        depth: number of enclosing loops.
        code: instructions in order.
    """

    label: str
    loop: str
    depth: int
    code: Sequence[CodeLine]


@dataclass(frozen=True)
class Picture:
    """An SVG file.

    Attributes:
        title: title of the picture.
        svg: content of the file.
        about: a sentence of explanation.
    """

    title: str
    svg: str
    about: str = ""


@dataclass(frozen=True)
class CurveStep:
    """A range of amounts of a resource for which the occupancy is the same.

    Attributes:
        first, last: range of VGPRs per lane, or of LDS bytes.
        waves_per_simd: occupancy in this range; 0 means that the kernel cannot be launched.
        current: whether the kernel is in this range.
    """

    first: int
    last: int
    waves_per_simd: float
    current: bool


@dataclass(frozen=True)
class Curve:
    """Occupancy as a function of one resource; of all other resources, the kernel's amounts are assumed.

    Attributes:
        resource: ``vgpr`` (registers per lane) or ``lds`` (bytes per workgroup).
        amount: amount that the kernel uses.
        steps: ranges in ascending order, at least one.
    """

    resource: str
    amount: int
    steps: Sequence[CurveStep]


@dataclass(frozen=True)
class Details:
    """All details of one kernel that are not in its report.

    Attributes:
        files: source files, the one with most instructions first.
        blocks: basic blocks in program order.
        control_flow: picture of blocks and loops; ``None`` if it would be too large to read.
        layouts: pictures of the layouts of the kernel's tensors.
        curves: occupancy as a function of VGPRs and of LDS; empty if not known.
        ttgir: the TTGIR line by line; empty if there is no TTGIR.
        landings: for each finding of the report, the positions of the instructions that it is about; empty for findings
            about the launch or the whole kernel.
        notes: sentences on what is missing in the details, and why.
    """

    files: Sequence[SourceFile] = ()
    blocks: Sequence[CodeBlock] = ()
    control_flow: Picture | None = None
    layouts: Sequence[Picture] = ()
    curves: Sequence[Curve] = ()
    notes: Sequence[str] = ()
    ttgir: Sequence[IrLine] = ()
    landings: Sequence[Sequence[int]] = ()
