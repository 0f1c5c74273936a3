"""The published measurements, as a folder holds them: ``configs.csv.gz``, one configuration of one problem a row."""

import csv
import gzip
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NAME = "configs.csv.gz"
LARGEST = 1 << 28


@dataclass(frozen=True)
class Row:
    """One measured or published configuration.

    Attributes:
        problem: identifier of the problem it solves.
        kind: ``sweep``, ``tuned_best`` or ``extern``.
        kernel: the function measured.
        shape, config: as published.
        dtype, gpu: as published.
        time_us: microseconds, ``None`` where only the winner is known.
        quality: what the collectors of the data noted, empty when nothing.
        source: file that it comes from.
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

    @property
    def suspect(self) -> bool:
        """Whether the collectors took the time for a disturbance."""
        return "SUSPECT" in self.quality


def load(folder: str) -> list[Row]:
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
    with gzip.open(path, "rb") as packed:
        text = packed.read(LARGEST).decode()
    return [_row(line) for line in csv.DictReader(text.splitlines())]


def _row(line: dict[str, str]) -> Row:
    return Row(
        problem=line["problem_id"],
        kind=line["kind"],
        kernel=line["kernel"],
        shape=json.loads(line["shape"]),
        config=json.loads(line["config"]),
        dtype=line["dtype"],
        gpu=line["gpu"],
        time_us=float(line["time_us"]) if line["time_us"] else None,
        quality=line["quality"],
        source=line["source_ref"],
    )
