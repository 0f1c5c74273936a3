"""vLLM and SGLang: ``E=8,N=3584,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8,block_shape=[128,128].json``.

Each key is a number of rows. The server uses the bucket with the nearest number, so there is no fallback bucket. Format
facts: vLLM, ``vllm/model_executor/layers/fused_moe/configs`` and ``quantization/utils/configs``. SGLang has the same
files in one folder per Triton version.
"""

import re
from pathlib import PurePath
from typing import ClassVar

from kprof_servers.configs.formats.interface import ConfigFormat, opened
from kprof_servers.configs.json_text import JsonNode, repeated
from kprof_servers.configs.model import Bucket, ConfigFile, Oddity, buckets_of

_PAIR = re.compile(r"([A-Za-z_]\w*)=(\[[^\]]*\]|[^,\[\]]*)(?:,|$)")
_PLAIN = {"triton_version"}
"""Keys of the document that are not buckets."""


def fields(stem: str) -> tuple[dict[str, str], str]:
    """Return the parameters in a file's name, and the part of the name that could not be parsed."""
    found: dict[str, str] = {}
    at = 0
    while (match := _PAIR.match(stem, at)) is not None and at < len(stem):
        found[match[1]] = match[2]
        at = match.end()
    return found, stem[at:]


class Vllm(ConfigFormat):
    """vLLM's configuration files: one file per shape and device, which maps numbers of rows to configurations."""

    name: ClassVar[str] = "vLLM"
    order: ClassVar[int] = 30

    def claims(self, path: PurePath) -> bool:
        """See :class:`ConfigFormat`."""
        return path.suffix == ".json" and "device_name=" in path.name

    def resembles(self, document: JsonNode) -> bool:
        """Return whether every key except ``triton_version`` is a number."""
        keys = [member.key for member in document.members or () if member.key not in _PLAIN]
        return bool(keys) and all(key.strip().isdecimal() for key in keys)

    def read(self, path: str, text: str) -> ConfigFile:
        """See :class:`ConfigFormat`."""
        document, broken = opened(text)
        rest = tuple(member for member in document.members or () if member.key not in _PLAIN)
        found, odd = buckets_of(JsonNode(document.place, members=rest))
        stem = PurePath(path).name.removesuffix(".json")
        named, unread = fields(stem) if "=" in stem else ({}, "")
        device = named.pop("device_name", None)
        if unread:
            odd.insert(0, Oddity(document.place, f"{unread!r} of the file's name is not a list of name=value"))
        odd += [o for bucket in found if (o := _no_number(bucket)) is not None]
        moe = "E" in named
        return ConfigFile(
            path=path,
            format=self.name,
            device=device,
            family="fused_moe" if moe else "w8a8_block_fp8" if {"N", "K"} <= named.keys() else None,
            parameters=named,
            buckets=tuple(found),
            vocabulary="vllm" if moe or {"N", "K"} <= named.keys() else None,
            oddities=tuple(odd),
            repeated=tuple(repeated(document)),
            broken=broken,
        )


def _no_number(bucket: Bucket) -> Oddity | None:
    key = bucket.path[0]
    if key.isdecimal() and str(int(key[:12])) == key[:12]:
        return None
    return Oddity(bucket.place, f"the bucket {key!r} is not a number of rows: reading the file raises ValueError")
