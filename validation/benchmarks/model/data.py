"""Read the published measurements of a folder: ``configs.csv.gz``, one row per configuration and problem.

Rows that cannot be used are counted in :class:`Rows`, with the reason.
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
"""The GPU that is assumed if a row names several GPUs of an architecture, or one that the hardware files lack."""
_Read = TypeVar("_Read")


class UnusableError(ValueError):
    """Raised if a row cannot be converted to a launch; the message is short and without the row's numbers."""


@dataclass(frozen=True)
class Row:
    """One measured or published configuration.

    Attributes:
        problem: identifier of the solved problem.
        kind: ``sweep``, ``tuned_best``, ``extern``, ``ab_pair``, ``validity``, or the name of a later table.
        kernel: the measured function.
        shape, config: published shape and configuration.
        dtype, gpu: published type and GPU.
        time_us: microseconds; ``None`` if only the winner is known.
        quality: note of the data's collectors, or empty.
        source: file that the row comes from.
        family: kind of kernel: ``gemm``, ``batched_gemm``, ``conv``, ``fused_moe`` and others.
        arch: published architecture; ``?`` if unknown.
        triton: version of the compiler, if known.
        valid: whether it could be launched; only known for ``validity`` rows.
        lds: bytes of LDS that the launch requested, if the error names them.
        dropped: knobs of the configuration that our kernel lacks; added by the row's reader.
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
        """Whether the collectors consider the time disturbed."""
        return "SUSPECT" in self.quality

    @property
    def product(self) -> str:
        """The GPU's name in the hardware files.

        Raises:
            UnusableError: neither the GPU nor the architecture is known.
        """
        found = product_of(self.gpu, self.arch)
        if found is None:
            raise UnusableError(f"no such GPU: {self.gpu or self.arch or 'not named'}")
        return found

    def number(self, name: str) -> int:
        """Return a whole number of the shape, or else of the configuration.

        Raises:
            UnusableError: neither contains the number.
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
        """Return the configuration with our names; unknown knobs are left out and added to ``dropped``.

        Args:
            names: our names by published name.
            known: our knobs.
            ignored: names without an effect.
        """
        given = {name: value for name, value in self.config.items() if name not in ignored and value is not None}
        self.dropped.update(name for name in given if names.get(name, name) not in known)
        return {names.get(name, name): value for name, value in given.items() if name not in self.dropped}


class Rows(list[Row]):
    """All rows of a folder, and how they were used.

    Attributes:
        skipped: number of rows by kernel and reason.
        without: number of rows that are used without a knob, by kernel and knob.
        used: rows that a family converted to a launch or rejected with a reason, by identity.
        made: rows that a family converted to a launch.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        super().__init__(rows)
        self.skipped: Counter[tuple[str, str]] = Counter()
        self.without: Counter[tuple[str, str]] = Counter()
        self.used: set[int] = set()
        self.made: set[int] = set()


def each(rows: Sequence[Row], chosen: Iterable[Row], read: Callable[[Row], _Read]) -> Iterator[tuple[Row, _Read]]:
    """Yield the chosen rows with the result of ``read``; rows that it cannot read are counted and skipped."""
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
    """Return a random sample of the chosen rows; the others are counted as not drawn."""
    found = Random(seed).sample(chosen, min(count, len(chosen)))
    taken = {id(row) for row in found}
    for row in chosen:
        if id(row) not in taken:
            skip(rows, row, NOT_DRAWN)
    return found


def grouped(read: Iterable[tuple[Row, _Read]]) -> dict[str, list[tuple[Row, _Read]]]:
    """Return rows by problem; problems with different GPUs or types are different problems."""
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
    """Return the hardware files' name of a GPU (``AMD_Instinct_MI325_OAM``, ``MI300X/MI308``), or ``None``."""
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
        # A GPU that the files lack is replaced by the usual one of its architecture only if that is an AMD GPU.
        return usual
    return named[0]


def load(folder: str) -> Rows:
    """Read all rows of a data folder.

    Raises:
        SystemExit: the file does not exist; the message says what to do.
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
    """Read the existing tables next to the main one, which contain times of single launches."""
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
"""Map a table next to the main one to the function that reads a line."""


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
    """Return microseconds; ``None`` if there is no usable number."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) and found > 0 else None
