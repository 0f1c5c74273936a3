"""From paths to configuration files."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from kprof.errors import KprofError
from kprof.inputs import boundary
from kprof.inputs.opening import unlisted
from kprof_servers.configs.formats import formats
from kprof_servers.configs.formats.interface import ConfigFormat
from kprof_servers.configs.json_text import JsonError, parse
from kprof_servers.configs.model import ConfigFile

_MAX_BYTES = 16 * 1024 * 1024
_SKIPPED = {"node_modules", "__pycache__"}


@dataclass
class FoundFiles:
    """What paths led to.

    Attributes:
        files: the configuration files, each once, in the order of their names within each path.
        others: JSON files that are no configurations as far as kprof can tell.
        problems: what could not be read, and why.
    """

    files: list[ConfigFile] = field(default_factory=list)
    others: int = 0
    problems: list[KprofError] = field(default_factory=list)


def gather(paths: Iterable[str]) -> FoundFiles:
    """Read files, and everything that looks like a configuration below directories.

    A file that is named must be a configuration; what a directory holds besides is passed over.
    """
    found = FoundFiles()
    seen: set[str] = set()
    for path in paths:
        named = not Path(path).is_dir()
        for file in [path] if named else _walk(path, found.problems):
            key = os.path.realpath(file)
            if key in seen:
                continue
            seen.add(key)
            try:
                config = read(file)
            except KprofError as error:
                found.problems.append(error)
                continue
            if config is not None and (config.buckets or config.broken or file.endswith(".json")):
                found.files.append(config)
            elif named:
                found.problems.append(_none(file))
            else:
                found.others += file.endswith(".json")
    return found


def read(path: str) -> ConfigFile | None:
    """One configuration file; ``None`` when it is none.

    Raises:
        KprofError: it is missing, too large or cannot be read.
    """
    plain = PurePath(path)
    chosen = next((f for f in formats() if f.claims(plain)), None)
    if chosen is None and plain.suffix != ".json":
        return None
    text = _text(path)
    if chosen is None:
        chosen = _alike(text)
    elif chosen.suffix == ".py" and ("triton" not in text or "Config(" not in text):
        return None
    return None if chosen is None else chosen.read(path, text)


def _alike(text: str) -> ConfigFormat | None:
    try:
        document = parse(text)
    except JsonError:
        return None
    return next((f for f in formats() if f.resembles(document)), None)


def _text(path: str) -> str:
    # What is no UTF-8 is found as a wrong character, with its place.
    return boundary.read_bytes(path, most=_MAX_BYTES).decode("utf-8", "replace")


def _none(path: str) -> KprofError:
    if not os.path.lexists(path):
        return KprofError("no such file or folder", path=path)
    if path.endswith(".py"):
        return KprofError("has no triton.Config with settings that can be read from the text", path=path)
    return KprofError(
        "is no tuned configuration that kprof knows",
        path=path,
        hint=f"Known are {', '.join(f.name for f in formats())}: recognised by the names of folders and files, then by "
        "the keys.",
    )


def _walk(root: str, problems: list[KprofError]) -> Iterator[str]:
    for folder, folders, files in os.walk(root, onerror=lambda error: problems.append(unlisted(error))):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(files):
            if name.endswith((".json", ".py")):
                yield os.path.join(folder, name)  # noqa: PTH118 - keeps the path as it was named
