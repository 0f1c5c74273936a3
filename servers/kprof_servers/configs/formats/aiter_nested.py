"""AITER's new layout: ``gfx950/triton/gemm/gemm_a16w16/DEFAULT.json`` and ``.../GEMM-A16W16-N=256-K=7168.json``.

Format facts: ROCm/aiter, ``aiter/ops/triton/configs`` and ``utils/gemm_config_utils.py``.
"""

import re
from pathlib import Path, PurePath
from typing import ClassVar

from kprof_servers.configs.formats.aiter_flat import split_shape, vocabulary
from kprof_servers.configs.formats.interface import ConfigFormat, opened
from kprof_servers.configs.json_text import JsonNode, repeated
from kprof_servers.configs.model import ConfigFile, buckets_of

_ARCH = re.compile(r"gfx\w+")
_BACKENDS = {"triton", "gluon"}


class AiterNested(ConfigFormat):
    """AITER's new layout: a folder per architecture, backend, operation and family, with a default and shape files."""

    name: ClassVar[str] = "AITER nested"
    order: ClassVar[int] = 10

    def claims(self, path: PurePath) -> bool:
        """See :class:`ConfigFormat`."""
        parts = _parts(path)
        return (
            path.suffix == ".json"
            and len(parts) >= 5
            and parts[-4] in _BACKENDS
            and _ARCH.fullmatch(parts[-5]) is not None
        )

    def resembles(self, document: JsonNode) -> bool:  # noqa: ARG002 - the base class's
        """Return False: by its content alone, a file cannot be distinguished from one of the old layout."""
        return False

    def read(self, path: str, text: str) -> ConfigFile:
        """See :class:`ConfigFormat`."""
        document, broken = opened(text)
        found, odd = buckets_of(document)
        parts = _parts(PurePath(path))
        default = parts[-1] == "DEFAULT.json"
        family, shape = split_shape(PurePath(path).stem)
        if default:
            family = parts[-2].upper().replace("GEMM_", "GEMM-", 1)
        return ConfigFile(
            path=path,
            format=self.name,
            arch=parts[-5],
            family=family,
            backend=parts[-4],
            parameters=shape,
            default=default,
            buckets=tuple(found),
            vocabulary=vocabulary(family) if parts[-3] == "gemm" else None,
            oddities=tuple(odd),
            repeated=tuple(repeated(document)),
            broken=broken,
        )


def folder_of(family: str) -> str:
    """Return the name of the folder that contains a family's files."""
    return family.lower().replace("-", "_")


def _parts(path: PurePath) -> tuple[str, ...]:
    """Return the folders and the name of a path. It is made absolute, because parent folders identify the file."""
    return (path if path.is_absolute() else Path(path).absolute()).parts
