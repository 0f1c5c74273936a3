"""Convert the answers of a server's lookup functions to the document's entries for files."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from kprof.errors import KprofError
from kprof.hardware.machine import load
from kprof_servers.configs.lint import lint
from kprof_servers.configs.model import ConfigFile
from kprof_servers.configs.reading import read
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import Found, NeededFile, ServedBatch
from kprof_servers.served.interface import LookupAnswer, ModelServer, NeededLookup

_DEVICE = re.compile(r"device_name=([^,\]]+?)(?=,|\.json$)")
_FAR = 2
"""A bucket that differs from the batch's number of rows by more than this factor counts as far away."""


def from_table(need: NeededLookup, device: str, arch: str) -> NeededFile:
    """Return the document's entry for a file from kprof's table alone. Whether the file exists is unknown."""
    return NeededFile(
        kernel=need.kernel,
        layer=need.layer,
        layers=need.layers,
        shape=dict(need.shape),
        name=need.name.format(device=device, arch=arch),
        folder=need.folder,
        status="unknown",
        alternative=need.alternative,
    )


def judged(
    server: ModelServer,
    need: NeededLookup,
    answers: Mapping[int, LookupAnswer],
    *,
    gpu: ServedGpu,
    root: Path,
    batches: Sequence[int],
) -> NeededFile:
    """Return the document's entry for a file, from the answers of the server's own functions.

    Args:
        server: the server that answered.
        need: the file that was looked up.
        answers: answers by rows of a batch, as in :attr:`NeededLookup.calls`.
        gpu: the GPU.
        root: the folder that contains the server's package.
        batches: rows of the batches to report.

    Raises:
        KprofError: the server's function requests no file at all.
    """
    first = next(iter(answers.values()))
    if not first.asked:
        reason = first.error or "it returns without looking up a file"
        raise KprofError(f"the server's lookup for {need.layer} looks up no file: {reason}", path=str(root))
    wanted = Path(server.wanted(first))
    status: Found = server.status(first)
    config = _config(first.opened)
    notes = [] if config is None else _far(config, batches) if server.nearest else []
    if status == "none":
        notes.append(f"the lookup raises {first.error[:200]}")
    return NeededFile(
        kernel=need.kernel,
        layer=need.layer,
        layers=need.layers,
        shape=dict(need.shape),
        name=wanted.name,
        folder=_below(wanted.parent, root),
        status=status,
        opened="" if first.opened is None else _below(Path(first.opened), root),
        others=_files_of_other_gpu_names(wanted, gpu),
        batches=[_batch(rows, answers, config if server.nearest else None, _table(need)) for rows in batches],
        notes=notes,
        lint=_lint(config, gpu),
        alternative=need.alternative,
    )


def _below(path: Path, root: Path) -> str:
    """Return the path relative to the server's root, with links resolved on both sides."""
    return os.path.relpath(path.resolve(), root.resolve())


def _config(opened: str | None) -> ConfigFile | None:
    if opened is None:
        return None
    try:
        return read(opened)
    except KprofError:
        return None


def _buckets(config: ConfigFile) -> list[int]:
    return [int(bucket.path[-1]) for bucket in config.buckets if bucket.path[-1].isdecimal()]


def _table(need: NeededLookup) -> tuple[str, ...]:
    """Return the keys of the kernel's configuration in a table for all shapes, outermost first; () for other files."""
    return need.launch.table if need.launch is not None and need.launch.is_shape_independent else ()


def _batch(
    rows: int, answers: Mapping[int, LookupAnswer], config: ConfigFile | None, table: Sequence[str]
) -> ServedBatch:
    keys = _buckets(config) if config is not None else []
    bucket = min(keys, key=lambda key: abs(key - rows)) if keys else None
    answer = answers.get(rows)
    result = answer.result if answer is not None else None
    if answer is None and bucket is not None and 0 in answers and isinstance(answers[0].result, dict):
        # The function was called once for all batches and returned every bucket of the file.
        result = answers[0].result.get(str(bucket))
    if answer is None and table and 0 in answers:
        result = answers[0].result
        for name in table:
            result = result[name] if isinstance(result, dict) and name in result else result
    if isinstance(result, list) and result:
        # AITER returns a pair: the configuration, and whether the file is for the exact shape.
        result = result[0]
    return ServedBatch(rows, bucket, result if isinstance(result, dict) else None)


def _far(config: ConfigFile, batches: Sequence[int]) -> list[str]:
    """Return a note for each batch whose nearest bucket differs by more than a factor of 2 in its number of rows."""
    keys = _buckets(config)
    found = []
    for rows in batches if keys else ():
        bucket = min(keys, key=lambda key: abs(key - rows))
        if bucket > _FAR * rows or rows > _FAR * bucket:
            found.append(f"no bucket near {rows:,} rows: that of {bucket:,} is taken")
    return found


def _files_of_other_gpu_names(wanted: Path, gpu: ServedGpu) -> list[str]:
    """Return the existing files for the same shape whose names contain another name of the GPU."""
    match = _DEVICE.search(wanted.name)
    if match is None or not wanted.parent.parent.is_dir():
        return []
    folders = wanted.parent.parent.glob("triton_*") if wanted.parent.name.startswith("triton_") else [wanted.parent]
    found = set()
    for folder in folders:
        for file in folder.glob("*.json") if folder.is_dir() else ():
            other = _DEVICE.search(file.name)
            if other is None or other[1] == match[1] or not gpu.is_named(other[1]):
                continue
            if _DEVICE.sub("", file.name) == _DEVICE.sub("", wanted.name):
                found.add(file.name)
    return sorted(found)


def _lint(config: ConfigFile | None, gpu: ServedGpu) -> list[str]:
    if config is None:
        return []
    report = lint([config], load(gpu.arch))[0]
    return [f"{finding.rule} {finding.severity.value}: {finding.message}" for finding in report.findings]
