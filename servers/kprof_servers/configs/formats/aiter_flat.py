"""AITER's old layout: ``gfx950-GEMM-A16W16-N=256-K=7168.json``, all architectures in one folder.

Format facts: ROCm/aiter, ``aiter/ops/triton/configs`` and ``utils/gemm_config_utils.py``.
"""

import re
from pathlib import PurePath
from typing import ClassVar

from kprof_servers.configs.formats.interface import ConfigFormat, opened
from kprof_servers.configs.json_text import JsonNode, repeated
from kprof_servers.configs.model import ConfigFile, buckets_of

_NAME = re.compile(r"(?P<arch>gfx\w+)-(?P<rest>.+)\.json", re.IGNORECASE)
_SUFFIX = re.compile(r"(?P<family>.+?)(?P<shape>(?:-[A-Z]\w*=[^-=]+)+)")
_BUCKET = re.compile(r"M_(?:LEQ|GEQ)_\w+|any|(?:small|medium|large)_M")


def split_shape(stem: str) -> tuple[str, dict[str, str]]:
    """Split ``GEMM-A16W16-N=256-K=7168`` into the family and the shape parameters in the name."""
    match = _SUFFIX.fullmatch(stem)
    if match is None:
        return stem, {}
    pairs = (part.partition("=") for part in match["shape"].strip("-").split("-"))
    return match["family"], {name: value for name, _, value in pairs}


def vocabulary(family: str) -> str | None:
    """Return the vocabulary section of a family, or ``None`` for families other than GEMM and MoE."""
    if family.startswith(("GEMM-", "BATCHED_GEMM-", "FUSED-GEMM-", "FF-")):
        return "aiter-gemm"
    return "aiter-moe" if family.startswith("MOE-") else None


class AiterFlat(ConfigFormat):
    """AITER's old layout: one file per architecture and family, and additional files for single shapes."""

    name: ClassVar[str] = "AITER flat"
    order: ClassVar[int] = 20

    def claims(self, path: PurePath) -> bool:
        """See :class:`ConfigFormat`."""
        return _NAME.fullmatch(path.name) is not None

    def resembles(self, document: JsonNode) -> bool:
        """Return whether the document has buckets by M with their usual names."""
        return any(_BUCKET.fullmatch(member.key) for member in document.members or ())

    def read(self, path: str, text: str) -> ConfigFile:
        """See :class:`ConfigFormat`."""
        document, broken = opened(text)
        found, odd = buckets_of(document)
        plain = PurePath(path)
        match = _NAME.fullmatch(plain.name)
        family, shape = split_shape(match["rest"] if match else plain.stem)
        return ConfigFile(
            path=path,
            format=self.name,
            arch=match["arch"] if match else None,
            family=family,
            backend="gluon" if plain.parent.name == "gluon" else "triton",
            parameters=shape,
            default=not shape,
            buckets=tuple(found),
            vocabulary=vocabulary(family),
            oddities=tuple(odd),
            repeated=tuple(repeated(document)),
            broken=broken,
        )
