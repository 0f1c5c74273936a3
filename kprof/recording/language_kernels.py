"""Kernels that other languages than Triton compile in the recorded program, in the form that the recorder stores.

A language's module (:mod:`kprof.recording.flydsl`) patches the language, makes a :class:`LanguageKernel` of each
compiled kernel and passes its launches to :meth:`kprof.recording.recorder.Recorder.launch_compiled`. Launches that it
cannot record go to :meth:`kprof.recording.recorder.Recorder.leave_out`
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kprof.cache.keys import key
from kprof.captures import layout

if TYPE_CHECKING:
    from kprof.inputs.amdgcn.arguments import KernelArgument

_METADATA = re.compile(r"^\s*\.amdgpu_metadata\n(.*?)^\s*\.end_amdgpu_metadata", re.MULTILINE | re.DOTALL)
_TARGET = re.compile(r"^amdhsa\.target:\s*\S*?(gfx[0-9a-f]+)", re.MULTILINE)
_WORD = 4


@dataclass(frozen=True)
class LanguageKernel:
    """A kernel as its language compiled it, with the parts of the launch that determine its resources.

    Attributes:
        name: name of the kernel in the assembly.
        compiler: the language with its version, for example ``FlyDSL 0.5.0``.
        assembly: the compiler's assembly, which may contain other kernels.
        block: work-items in x, y, z.
        dynamic_lds: bytes of LDS that the launch adds to those in the assembly.
        path: Python file that defines the kernel; "" if unknown.
        line: line of its definition; ``None`` if unknown.
        module: Python module that defines it.
        seconds: compile time; ``None`` if the code came from a cache.
    """

    name: str
    compiler: str
    assembly: str
    block: tuple[int, int, int]
    dynamic_lds: int = 0
    path: str = ""
    line: int | None = None
    module: str = ""
    seconds: float | None = None

    @cached_property
    def identifier(self) -> str:
        """Identifier of the specialisation: digest of the code and of the launch's workgroup."""
        parts = (self.compiler, self.assembly, self.name, self.block, self.dynamic_lds, self.path)
        return key(*parts)[: layout.ID_LENGTH]

    @cached_property
    def fields(self) -> Mapping[str, Any]:
        """The kernel's entry in the metadata at the end of the assembly, for example ``.vgpr_count``; else empty."""
        from kprof.inputs.amdgcn import metadata

        found = _METADATA.search(self.assembly)
        kernels = (metadata.read(found[1].splitlines()) or {}).get("amdhsa.kernels") if found is not None else None
        entries = kernels if isinstance(kernels, list) else []
        return next((one for one in entries if isinstance(one, dict) and one.get(".name") == self.name), {})

    @cached_property
    def arguments(self) -> "tuple[KernelArgument, ...]":
        """The kernel's arguments in the assembly's metadata, in order."""
        from kprof.inputs.amdgcn.arguments import kernel_arguments

        return kernel_arguments(self.fields)

    @property
    def arch(self) -> str:
        """Architecture that the assembly names; "" if it names none."""
        found = _TARGET.search(self.assembly)
        return "" if found is None else found[1]

    def metadata(self, wavefront_size: int) -> dict[str, Any]:
        """Return the launch's resources under the names that Triton uses in its metadata.

        Args:
            wavefront_size: lanes per wavefront, if the assembly does not contain it.
        """
        lanes = int(self.fields.get(".wavefront_size", wavefront_size))
        threads = self.block[0] * self.block[1] * self.block[2]
        static = int(self.fields.get(".group_segment_fixed_size", 0))
        return {
            "name": self.name,
            "shared": static + self.dynamic_lds,
            "num_warps": -(-threads // lanes),
            "warp_size": lanes,
        }

    @property
    def request(self) -> dict[str, Any]:
        """The compile in the form of :meth:`kprof.compiler.request.CompileRequest.to_json`."""
        return {
            "path": self.path,
            "function": self.name,
            "arch": self.arch,
            "signature": [],
            "constexprs": {},
            "attributes": {},
            "options": {"block": "x".join(map(str, self.block)), "dynamic_lds": self.dynamic_lds},
            "environment": {},
        }

    @property
    def record(self) -> dict[str, Any]:
        """The fields of :class:`kprof.captures.records.KernelRecord`, without the number."""
        return {
            "id": self.identifier,
            "name": self.name,
            "triton": "",
            "compiler": self.compiler,
            "module": self.module,
            "line": self.line,
            "request": self.request,
        }


def words_of(argument: "KernelArgument", data: bytes) -> dict[str, int]:
    """Return the 32-bit words of an argument passed by value, by name; empty for other arguments."""
    from kprof.inputs.amdgcn.arguments import word_name

    if argument.kind != "by_value":
        return {}
    found = {}
    for at in range(0, len(data), _WORD):
        found[word_name(argument.offset + at)] = int.from_bytes(data[at : at + _WORD], "little", signed=True)
    return found
