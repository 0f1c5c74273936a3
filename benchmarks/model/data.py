"""The published measurements, as a folder holds them: ``configs.csv.gz``, one configuration of one problem a row.

Rows that cannot be used are counted with the reason, wherever that is found out: :class:`Rows` keeps the count.
"""

import csv
import gzip
import io
import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

NAME = "configs.csv.gz"
LARGEST = 1 << 28
_USUAL = {"gfx942": "MI300X", "gfx90a": "MI210", "gfx950": "MI355X", "gfx1250": "MI455X"}
"""The GPU meant where a row names several of an architecture, or one that the hardware files lack."""
_Read = TypeVar("_Read")


class UnusableError(ValueError):
    """A row cannot be turned into a launch; the message says why, in a few words without the row's figures."""


@dataclass(frozen=True)
class Row:
    """One measured or published configuration.

    Attributes:
        problem: identifier of the problem it solves.
        kind: ``sweep``, ``tuned_best``, ``extern``, ``ab_pair``, ``validity``, or the name of a later table.
        kernel: the function measured.
        shape, config: as published.
        dtype, gpu: as published.
        time_us: microseconds, ``None`` where only the winner is known.
        quality: what the collectors of the data noted, empty when nothing.
        source: file that it comes from.
        family: sort of kernel: ``gemm``, ``batched_gemm``, ``conv``, ``fused_moe`` and others.
        arch: as published, ``?`` where it was not known.
        triton: version of the compiler, where that is known.
        valid: whether it could be launched; known of ``validity`` rows only.
        lds: bytes of LDS that the launch asked for, where the error names them.
        dropped: knobs of the configuration that our kernel lacks; the reader of the row adds them.
    """

    problem: str
    kind: str
    kernel: str
    shape: dict[str, Any]
    config: dict[str, Any]
    dtype: str
    gpu: str
    time_us: float | None
    quality: str
    source: str
    family: str = ""
    arch: str = ""
    triton: str = ""
    valid: bool = True
    lds: int | None = None
    dropped: set[str] = field(default_factory=set, compare=False, repr=False)

    @property
    def suspect(self) -> bool:
        """Whether the collectors took the time for a disturbance."""
        return "SUSPECT" in self.quality

    @property
    def product(self) -> str:
        """The GPU, by its name in the hardware files.

        Raises:
            UnusableError: neither the GPU nor the architecture is known.
        """
        found = product_of(self.gpu, self.arch)
        if found is None:
            raise UnusableError(f"no such GPU: {self.gpu or self.arch or 'not named'}")
        return found

    def number(self, name: str) -> int:
        """A whole number of the shape, or else of the configuration.

        Raises:
            UnusableError: there is none.
        """
        value = self.shape.get(name, self.config.get(name))
        try:
            found = int(value)  # type: ignore[arg-type]  # reported below
        except (TypeError, ValueError):
            raise UnusableError(f"no {name}") from None
        if found < 1:
            raise UnusableError(f"no {name}")
        return found

    def knobs(self, names: Mapping[str, str], known: AbstractSet[str], ignored: AbstractSet[str]) -> dict[str, Any]:
        """The configuration in our words; knobs that are not ours are left out and noted in ``dropped``.

        Args:
            names: published name to ours.
            known: our knobs.
            ignored: what changes nothing.
        """
        given = {name: value for name, value in self.config.items() if name not in ignored and value is not None}
        self.dropped.update(name for name in given if names.get(name, name) not in known)
        return {names.get(name, name): value for name, value in given.items() if name not in self.dropped}


class Rows(list[Row]):
    """All rows of a folder, and what became of them.

    Attributes:
        skipped: (kernel, reason) to the number of rows.
        without: (kernel, knob) to the number of rows that are used without it.
        used: rows that a family made a launch of, or gave a reason why not; by identity.
        made: rows that a family made a launch of.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self.skipped: Counter[tuple[str, str]] = Counter()
        self.without: Counter[tuple[str, str]] = Counter()
        self.used: set[int] = set()
        self.made: set[int] = set()


def each(rows: Sequence[Row], chosen: Iterable[Row], read: Callable[[Row], _Read]) -> Iterator[tuple[Row, _Read]]:
    """The chosen rows with what ``read`` makes of them; those that it cannot read are counted and left out."""
    for row in chosen:
        try:
            found = read(row)
        except UnusableError as error:
            skip(rows, row, str(error))
        except KeyError as error:
            skip(rows, row, f"no {error.args[0]}")
        except (TypeError, ValueError, IndexError, AttributeError, ZeroDivisionError):
            skip(rows, row, "cannot be read")
        else:
            if isinstance(rows, Rows):
                rows.used.add(id(row))
                rows.made.add(id(row))
                rows.without.update((row.kernel, knob) for knob in row.dropped)
            yield row, found


def skip(rows: Sequence[Row], row: Row, reason: str) -> None:
    """Count a row that is not used."""
    if isinstance(rows, Rows):
        rows.used.add(id(row))
        rows.skipped[row.kernel, reason] += 1


NOT_DRAWN = "not drawn: a sample of these is judged"


def drawn(rows: Sequence[Row], chosen: Sequence[Row], count: int, seed: str) -> list[Row]:
    """A sample of the chosen rows; the others are counted as not drawn."""
    found = Random(seed).sample(chosen, min(count, len(chosen)))
    taken = {id(row) for row in found}
    for row in chosen:
        if id(row) not in taken:
            skip(rows, row, NOT_DRAWN)
    return found


def grouped(read: Iterable[tuple[Row, _Read]]) -> dict[str, list[tuple[Row, _Read]]]:
    """Rows by problem; a problem on two GPUs or of two types is two problems."""
    found: dict[str, list[tuple[Row, _Read]]] = {}
    kinds: dict[str, tuple[str, str, str]] = {}
    for row, what in read:
        kind = (row.gpu, row.dtype, json.dumps(row.shape, sort_keys=True))
        name = row.problem
        if kinds.setdefault(name, kind) != kind:
            name = " ".join(
                (name, *(mine for mine, first in zip(kind, kinds[row.problem], strict=True) if mine != first))
            )
        found.setdefault(name, []).append((row, what))
    return found


@cache
def product_of(gpu: str, arch: str) -> str | None:
    """The hardware files' name of a published GPU (``AMD_Instinct_MI325_OAM``, ``MI300X/MI308``), ``None`` if none."""
    from kprof.hardware.machine import find_product, products

    named = []
    for part in gpu.replace("_", " ").split("/"):
        word = part.replace("OAM", "").replace("HF3", "").strip()
        word = f"MI{word}" if word.isdigit() else word
        found = find_product(word) or find_product(f"{word}X")
        if found is not None and (not arch.startswith("gfx") or products()[found.name] == arch):
            named.append(found.name)
    usual = _USUAL.get(arch) or next((name for name, owner in products().items() if owner == arch), None)
    if usual in named or not named:
        # A GPU that the files lack is taken for the usual one of its architecture only if that is an AMD one.
        return usual
    return named[0]


def load(folder: str) -> Rows:
    """All rows of a data folder.

    Raises:
        SystemExit: there is no such file, with what to do about it.
    """
    path = Path(folder) / NAME
    if not path.is_file():
        raise SystemExit(
            f"{path}: no such file. The measurements are not part of the project; give the folder that has {NAME} "
            "with --data."
        )
    try:
        with gzip.open(path, "rb") as packed:
            text = packed.read(LARGEST).decode()
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SystemExit(f"{path}: not a packed table: {error}") from None
    rows = Rows()
    csv.field_size_limit(min(sys.maxsize, LARGEST))
    for line in csv.DictReader(io.StringIO(text, newline="")):
        kernel = line.get("kernel") or "?"
        if not _valid(line) and line.get("kind") != "validity":
            rows.skipped[kernel, "marked as not valid"] += 1
            continue
        try:
            rows.append(_row(line))
        except ValueError:
            rows.skipped[kernel, "shape or configuration is not a JSON object"] += 1
    rows.extend(later(Path(folder)))
    return rows


def later(folder: Path) -> Iterator[Row]:
    """Rows of the tables beside the main one, as far as they are there: times of single launches."""
    for name, read in _LATER.items():
        if (folder / name).is_file():
            with (folder / name).open(encoding="utf-8", newline="") as file:
                yield from (read(line) for line in csv.DictReader(file))


def _later(line: Mapping[str, str], kind: str, kernel: str, config: dict[str, Any]) -> Row:
    sides = {side: int(line[side]) for side in "MNK"}
    name = "x".join(str(size) for size in sides.values())
    return Row(
        problem=f"{line['gfx']} {name}",
        kind=kind,
        kernel=kernel,
        shape=sides,
        config=config,
        dtype=line["dtype"],
        gpu="",
        time_us=_time(line["us"]),
        quality="",
        source=line["csv"],
        family="gemm",
        arch=line["gfx"],
    )


def _flydsl(line: Mapping[str, str]) -> Row:
    return _later(line, "flydsl", "FlyDSL", {"name": line["kernelName"], "SPLIT_K": int(line["splitK"] or 0) or 1})


def _bf16(line: Mapping[str, str]) -> Row:
    return _later(line, "aiter_bf16", "AITER bf16 GEMM", _object(line["config"]))


def _gluon(line: Mapping[str, str]) -> Row:
    same = {"gfx": line["arch"], "csv": line["path"], "us": line["time_us_derived"]}
    config = {name: line[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
    config |= {"variant": line["config"], "matrix_share": line["mfma_eff_pct"]}
    return _later({**line, **same}, "gluon_tiles", line["kernel"], config)


def _gluon_cdna3(line: Mapping[str, str]) -> Row:
    traced = line["table"] == "att"
    same = {"gfx": line["arch"], "csv": line["path"], "us": "" if traced else line["time_us"]}
    config = {name: line[name] for name in ("table", "GROUP_SIZE_M", "cycles_per_iter_wave")}
    return _later({**line, **same}, "gluon_cdna3", line["variant"], config)


_LATER: Mapping[str, Callable[[Mapping[str, str]], Row]] = {
    "aiter_flydsl_gemm_times.csv": _flydsl,
    "aiter_triton_bf16_gemm_times.csv": _bf16,
    "gfx942_gluon_gemm.csv": _gluon_cdna3,
    "gfx950_gluon_gemm_tiles.csv": _gluon,
}
"""Tables beside the main one to the reader of a line."""


def _valid(line: Mapping[str, str | None]) -> bool:
    return (line.get("valid") or "1").strip().lower() not in {"0", "false", "0.0"}


def _row(line: dict[str, str]) -> Row:
    given = {name: value or "" for name, value in line.items() if isinstance(name, str)}
    return Row(
        problem=given.get("problem_id", "?"),
        kind=given.get("kind", ""),
        kernel=given.get("kernel", "?"),
        shape=_object(given.get("shape", "")),
        config=_object(given.get("config", "")),
        dtype=given.get("dtype", ""),
        gpu=given.get("gpu", ""),
        time_us=_time(given.get("time_us", "")),
        quality=given.get("quality", ""),
        source=given.get("source_ref", ""),
        family=given.get("kernel_family", ""),
        arch=given.get("arch", ""),
        triton=given.get("triton_version", ""),
        valid=_valid(given),
        lds=int(lds) if (lds := _time(given.get("lds_bytes", ""))) is not None else None,
    )


def _object(text: str) -> dict[str, Any]:
    found = json.loads(text or "{}")
    if not isinstance(found, dict):
        raise ValueError("not an object")  # noqa: TRY004  # reported like other bad JSON
    return found


def _time(text: str) -> float | None:
    """Microseconds; ``None`` where there is no usable number."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) and found > 0 else None
