"""Read the GPUs listed in the output of ``rocminfo`` or ``amd-smi static``."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kprof.errors import InputError
from kprof.inputs import boundary

_MOST_BYTES = 16 << 20
_MOST_GPUS = 1024
_MAX_VALUE_LENGTH = 120
_ESCAPES = re.compile(r"\x1b?\[\d+(?:;\d+)*m")
_AGENT = re.compile(r"Agent (\d{1,6})\s*")
_GPU = re.compile(r"GPU: (\d{1,6})\s*")
_ARCH = re.compile(r"gfx[0-9a-f]{3,5}(?![0-9a-z])")
_HINT = "--report accepts the output of rocminfo or amd-smi static"


@dataclass(frozen=True)
class ReportedGpu:
    """A GPU in a report.

    Attributes:
        arch: architecture such as ``gfx942``, or "" if the report does not contain it.
        product: product name such as ``AMD Instinct MI300X``, or "" if the report does not contain it.
        compute_units: number of CUs, or ``None`` if the report does not contain it.
        compute_partition: compute partition mode such as ``SPX``, or "" if the report does not contain it.
        memory_partition: memory partition mode such as ``NPS1``, or "" if the report does not contain it.
    """

    arch: str
    product: str
    compute_units: int | None
    compute_partition: str = ""
    memory_partition: str = ""

    @property
    def words(self) -> str:
        """Description such as ``AMD Instinct MI300X (gfx942), 304 CUs``."""
        name = f"{self.product} ({self.arch})" if self.product and self.arch else self.product or self.arch or "GPU"
        return name if self.compute_units is None else f"{name}, {self.compute_units} CUs"


def read_gpu_report(path: str) -> tuple[ReportedGpu, ...]:
    """Return the GPUs that a report lists, in the order of the report.

    Raises:
        InputError: if the file is missing, too large or cut off, is not the output of exactly one of the programs, or
            lists no GPU.
    """
    text = _ESCAPES.sub("", boundary.read_text(path, most=_MOST_BYTES))
    lines = text.splitlines()
    agents = [number for number, line in enumerate(lines) if _AGENT.fullmatch(line)]
    gpus = [number for number, line in enumerate(lines) if _GPU.fullmatch(line)]
    if agents and gpus:
        raise InputError(
            "output of rocminfo and of amd-smi in one file",
            path=path,
            place=f"line {max(agents[0], gpus[0]) + 1}",
            hint="write them to separate files",
        )
    if not agents and not gpus:
        raise InputError("neither output of rocminfo nor of amd-smi", path=path, hint=_HINT)
    starts = agents or gpus
    if len(starts) > _MOST_GPUS:
        raise InputError(f"over {_MOST_GPUS:,} agents", path=path, place=f"line {starts[_MOST_GPUS] + 1}")
    ends = [*starts[1:], len(lines)]
    read = _agent if agents else _gpu
    found = [
        gpu
        for start, end in zip(starts, ends, strict=True)
        if (gpu := read(lines[start + 1 : end], _refusal(path, start + 1, lines[start].strip()))) is not None
    ]
    if not found:
        raise InputError("no GPU in this output", path=path, place=f"line {starts[-1] + 1}")
    return tuple(found)


Refusal = Callable[[str], InputError]


def _refusal(path: str, line: int, name: str) -> Refusal:
    def refuse(what: str) -> InputError:
        return InputError(f"{name} has no {what}: the output is cut or damaged", path=path, place=f"line {line}")

    return refuse


def _agent(lines: list[str], refuse: Refusal) -> ReportedGpu | None:
    """Return a GPU of rocminfo's output, or ``None`` for an agent that is not a GPU."""
    fields = dict(reversed(list(_fields(lines))))
    if "Name" not in fields:
        raise refuse("Name")
    if _ARCH.fullmatch(fields["Name"]) is None:
        return None
    units = boundary.whole_number(fields.get("Compute Unit"), 1 << 20)
    if units is None:
        raise refuse("number of Compute Units")
    return ReportedGpu(fields["Name"], fields.get("Marketing Name", ""), units)


def _gpu(lines: list[str], refuse: Refusal) -> ReportedGpu:
    """Return a GPU of amd-smi's output."""
    fields = dict(reversed(list(_fields(lines))))
    product = fields.get("MARKET_NAME", fields.get("PRODUCT_NAME", ""))
    arch = _ARCH.search(fields.get("TARGET_GRAPHICS_VERSION", ""))
    if not product and arch is None:
        raise refuse("MARKET_NAME and no TARGET_GRAPHICS_VERSION")
    return ReportedGpu(
        arch[0] if arch else "",
        product,
        boundary.whole_number(fields.get("NUM_COMPUTE_UNITS"), 1 << 20),
        _mode(fields.get("COMPUTE_PARTITION", fields.get("ACCELERATOR_PARTITION", ""))),
        _mode(fields.get("MEMORY_PARTITION", "")),
    )


def _mode(text: str) -> str:
    return text if re.fullmatch(r"[A-Z]{3}\d?", text) else ""


def _fields(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield names and values. Sections on pools and ISAs repeat names, so callers keep the first value of each name."""
    for line in lines:
        name, colon, value = line.partition(":")
        if colon and value.strip():
            # A number may be followed by its hexadecimal form, as in 304(0x130).
            yield name.strip(), value.strip().partition("(0x")[0][:_MAX_VALUE_LENGTH]
