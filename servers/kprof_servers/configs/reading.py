"""Find and read configuration files."""

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
    """The files found below the given paths.

    Attributes:
        files: the configuration files, each once, sorted by name within each path.
        others: number of JSON files that kprof does not recognise as configurations.
        problems: files that could not be read, with the reason.
    """

    files: list[ConfigFile] = field(default_factory=list)
    others: int = 0
    problems: list[KprofError] = field(default_factory=list)


def gather(paths: Iterable[str]) -> FoundFiles:
    """Read the named files, and all files below the named directories that look like configurations.

    A named file that is not a configuration is a problem; such files in a named directory are ignored.
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
    """Read a configuration file; return ``None`` if the file does not contain tuned configurations.

    Raises:
        KprofError: the file is missing, too large or cannot be read.
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
    # Invalid UTF-8 is replaced, so that the parser reports the position of the wrong character.
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
