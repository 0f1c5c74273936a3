"""Load kernels that were compiled elsewhere: assembly, code objects, Triton's cache and dump directories.

Files are only read. Nothing is executed, and no link out of the named directory is followed.

``torch_compile_debug/run_*/torchinductor/model_*/output_code.py`` and the files of Inductor's cache contain the sources
of Triton kernels as texts in calls of ``async_compile.triton``. The compiled kernels are in Triton's cache below
``TORCHINDUCTOR_CACHE_DIR``, in ``triton/<device>/<hash>``.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.document import Specialization
from kprof.errors import InputError, KprofError
from kprof.hardware.machine import Architecture
from kprof.hardware.machine import load as load_architecture
from kprof.inputs import amdgcn, boundary, triton_metadata
from kprof.inputs.opening import head_of, unlisted
from kprof.targets.loaded import LoadedKernel

if TYPE_CHECKING:
    from kprof.inputs.code_object import CodeObject
    from kprof.inputs.code_object.model import Descriptor
    from kprof.inputs.code_object.packing import Packed

_SUFFIXES = (".amdgcn", ".s")
_KERNEL = re.compile(rb"async_compile\.triton\(\s*'([A-Za-z_]\w{0,200})'")
_MOST_INDUCTOR_BYTES = 16 * 1024 * 1024
_MAX_FILES = 20_000

ASSEMBLY_SUFFIXES = {".amdgcn", ".s", ".asm"}
OBJECT_SUFFIXES = {".hsaco", ".co", ".o", ".so", ".hsaco.o", ".out"}
_ELF = b"\x7fELF"
_BUNDLE = (b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB")
_BETTER = {".o": (".out", ".hsaco", ".co"), ".so": (), ".out": (".hsaco",)}
_PACKED = tuple(f"{plain}{packed}" for plain in (".hsaco", ".co") for packed in (".xz", ".zst", ".gz"))
_EM_AMDGPU = (224).to_bytes(2, "little")
_AMD_WORDS = (b"amdgcn", b"amdhsa", b"s_endpgm")
_PEEK = 1 << 16
_MAX_BYTES = 512 * 1024 * 1024
_LARGEST_LISTING = 16 * 1024 * 1024
"""Maximum bytes of assembly. The largest listing of the tests has 65 kB."""
_BYTES_A_LINE = 64
"""Bytes per line that set the maximum number of lines: 262,144 take some seconds and half a gigabyte to read."""
NO_LDS = "Triton's dump does not contain the LDS size"
NO_WORKGROUP = "the launch is not known"
"""Beginnings of notes on facts that only the launch determines."""
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "waves_per_eu", "matrix_instr_nonkdim", "kpack")


def load_file(path: Path, arch: str | None = None) -> Iterator[LoadedKernel]:
    """Yield every kernel of an assembly file or code object; the content shows which of them the file is.

    Args:
        path: the file.
        arch: architecture to assume if the file does not name one.

    Raises:
        KprofError: if the file is missing, empty, truncated, too large or of another kind.
    """
    from kprof.inputs.code_object.packing import is_packed, unpack

    data = _read(path)
    if is_packed(data):
        yield from _from_archive(path, unpack(data, str(path)), arch)
        return
    if data.startswith(_ELF) or data.startswith(_BUNDLE):
        yield from _from_object(path, data, arch)
        return
    _check_size(path, data)
    # clang copies raw bytes of names into comments, so assembly may be invalid UTF-8. A file that is not assembly is
    # recognised by its content.
    yield from from_assembly(path, data.decode(errors="replace"), arch)


def _check_size(path: Path, data: bytes) -> None:
    """Reject assembly with too many bytes or lines. Many short lines take much time and memory to read, too."""
    allowed = boundary.limit(_LARGEST_LISTING)
    said = (
        (len(data), "bytes", allowed),
        (data.count(b"\n"), "lines", max(_LARGEST_LISTING, allowed) // _BYTES_A_LINE),
    )
    for count, what, most in said:
        if count > most:
            raise InputError(
                f"too large: {count:,} {what} of assembly; the limit is {most:,}",
                path=str(path),
                hint="Set KPROF_INPUT_LIMIT=64M for four times the limit; reading then takes "
                "up to a minute and 2 GB of memory.",
            )


def load_directory(path: Path, arch: str | None = None) -> Iterator[LoadedKernel]:
    """Yield every kernel below a Triton cache or dump directory, sorted by file name.

    Errors of single files are raised after all other files were read.

    Raises:
        KprofError: if a file cannot be read, or the directory contains no compiled AMD kernel.
    """
    found = 0
    problems: list[KprofError] = []
    for file in compiled_files(path, lambda error: problems.append(unlisted(error))):
        try:
            for kernel in load_file(file, arch):
                found += 1
                yield replace(kernel, file=os.fsencode(file.relative_to(path)).decode(errors="replace"))
        except KprofError as error:
            problems.append(error)
    if problems:
        raise problems[0]
    if not found:
        names = kernels_below(path)
        if names:
            raise InputError(
                f"contains the source of {len(names)} kernels of torch.compile ({_some(names)}), none of them compiled",
                path=str(path),
                hint="Pass its cache: TORCHINDUCTOR_CACHE_DIR, else /tmp/torchinductor_<user>; or use kprof capture.",
            )
        raise InputError(
            "no compiled kernel in this directory",
            path=str(path),
            hint="A Triton cache directory contains *.amdgcn and *.json files; set TRITON_KERNEL_DUMP=1 to get a dump.",
        )


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def compiled_files(root: Path, onerror: Callable[[OSError], object] | None = None) -> Iterator[Path]:
    """Yield the files below a directory that may contain kernels, by name; of each kernel, the most informative file.

    Assembly is preferred to code objects, and code objects to bundles of them. Files that a compiler's ``-save-temps``
    writes for the host, and object files without GPU code, are skipped.

    Args:
        root: the directory.
        onerror: called for each folder that cannot be listed.
    """
    for folder, folders, files in os.walk(root, onerror=onerror, followlinks=False):
        folders.sort()
        names = set(files)
        for name in sorted(files):
            path = Path(folder, name)
            if not path.is_symlink() and path.is_file() and _is_to_be_read(path, names):
                yield path


def links_below(root: Path) -> list[str]:
    """Return the relative paths of links below a directory that are not followed: to folders and to kernel files."""
    found = []
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        named = [name for name in sorted(files) if Path(name).suffix in ASSEMBLY_SUFFIXES | OBJECT_SUFFIXES]
        links = [Path(folder, name) for name in (*folders, *named) if Path(folder, name).is_symlink()]
        found += [os.fsencode(link.relative_to(root)).decode(errors="replace") for link in links]
    return found


def _is_to_be_read(path: Path, names: set[str]) -> bool:
    """Return whether to read a file, given the names of all files in its directory."""
    suffix = path.suffix
    if suffix in ASSEMBLY_SUFFIXES:
        return suffix == ".amdgcn" or (path.with_suffix(".amdgcn").name not in names and _is_for_amd(path))
    if suffix in OBJECT_SUFFIXES:
        better = {path.with_suffix(other).name for other in (*ASSEMBLY_SUFFIXES, *_BETTER.get(suffix, ()))}
        return not better & names and (suffix in {".hsaco", ".co"} or _is_for_amd(path))
    if suffix == ".hipfb":
        # -save-temps writes the parts of the bundle next to it, each under its own name.
        stem = path.name.split(".")[0]
        return not any(name.startswith(f"{stem}-hip-amdgcn") for name in names)
    return suffix == ".aks2" or path.name.endswith(_PACKED)


def _is_for_amd(path: Path) -> bool:
    """Return whether an object file or assembly is for AMD GPUs; compilers use the same suffix for host files."""
    start = head_of(path, _PEEK)
    if not start:
        # Reading the file later reports why it cannot be read.
        return True
    if start.startswith(_ELF):
        return start[18:20] == _EM_AMDGPU
    return any(word in start for word in _AMD_WORDS) or path.suffix not in {".s", ".asm"}


def _read(path: Path) -> bytes:
    data = boundary.read_bytes(path, most=_MAX_BYTES)
    if not data:
        raise InputError("the file is empty", path=str(path))
    return data


def from_assembly(path: Path, text: str, arch: str | None) -> Iterator[LoadedKernel]:
    """Yield every kernel of an assembly text.

    Args:
        path: origin of the text; Triton's metadata and TTGIR are searched next to it.
        text: the assembly.
        arch: architecture to assume if the text does not name one.

    Raises:
        KprofError: if the text contains no kernel or names no architecture.
    """
    assembly = amdgcn.parse(text, str(path), arch=arch)
    if not assembly.kernels:
        raise InputError("no kernel in this file", path=str(path))
    metadata, about_metadata = _sibling_metadata(path)
    ttgir = _sibling_ttgir(path)
    for program in assembly.kernels:
        machine = _architecture(program.arch or assembly.arch or arch, path)
        notes = [*assembly.notes, *about_metadata]
        unseen = None
        if assembly.truncated or not program.complete:
            notes.append("the file ends too early: the report covers the existing part")
            unseen = "the file ends too early"
        yield _loaded(program, machine, metadata, ttgir, notes, made_by=assembly.source, unseen=unseen)


def _from_archive(path: Path, images: "Iterator[Packed]", arch: str | None) -> Iterator[LoadedKernel]:
    """Yield the kernels of an archive; an image without code is a configuration that did not compile."""
    missing: list[str] = []
    found = False
    for image in images:
        if not image.data:
            missing.append(image.name)
            continue
        if not image.data.startswith((_ELF, *_BUNDLE)):
            continue
        for kernel in _from_object(path, image.data, arch, _launch_of(image)):
            found = True
            notes = [*kernel.notes, *([f"from the archive's {image.name}"] if image.name else [])]
            yield replace(kernel, notes=notes)
    if not found:
        also = f"; {len(missing)} of its configurations did not compile" if missing else ""
        raise InputError(f"no code object in this compressed file{also}", path=str(path))


def _launch_of(image: "Packed") -> tuple[int, int] | None:
    """Return LDS and work-items per workgroup, if the archive contains them."""
    return None if image.lds_bytes is None or not image.threads else (image.lds_bytes, image.threads)


def _from_object(
    path: Path, data: bytes, arch: str | None, launch: tuple[int, int] | None = None
) -> Iterator[LoadedKernel]:
    from kprof.inputs import code_object

    metadata, about_metadata = _sibling_metadata(path)
    file = code_object.read(data, str(path))
    found = [(code, kernel) for code in file.objects for kernel in code.kernels]
    if not found:
        raise InputError("no kernel in this code object", path=str(path))
    for code in file.objects:
        programs, notes, missing = _disassembled(code, path)
        for kernel in code.kernels:
            program = programs.get(kernel.name)
            registers = kernel.registers
            program = (
                amdgcn.AssemblyKernel(kernel.name, kernel.arch, (), {}, registers=registers, metadata=kernel.metadata)
                if program is None
                else replace(
                    program,
                    registers=registers,
                    metadata=kernel.metadata,
                    directives=program.directives or _directives(kernel.descriptor),
                )
            )
            machine = _architecture(kernel.arch or arch, path)
            said = [*file.notes, *code.notes, *about_metadata, *notes]
            made_by = "code object" if file.container == "elf" else file.container
            yield _loaded(program, machine, metadata, None, said, made_by=made_by, launch=launch, unseen=missing)


def _directives(descriptor: "Descriptor | None") -> Mapping[str, int | str]:
    return {} if descriptor is None else descriptor.directives


def _disassembled(code: "CodeObject", path: Path) -> tuple[dict[str, amdgcn.AssemblyKernel], list[str], str | None]:
    """Return the instructions of a code object by kernel, notes on them, and the reason if there are none."""
    from kprof.inputs import code_object

    notes: list[str] = []
    try:
        assembly = code_object.disassemble(code, path=str(path))
    except KprofError as error:
        found = listing_of(code, path, most=_MAX_BYTES)
        if found is None:
            return {}, [f"resources only, no instructions: {error.message}"], error.message
        assembly, other = found
        notes.append(f"its instructions come from {other.name} next to it: {error.message}")
    programs = {kernel.name: kernel for kernel in (*assembly.kernels, *assembly.functions)}
    return programs, [*notes, *assembly.notes], None


def _loaded(
    program: amdgcn.AssemblyKernel,
    machine: Architecture,
    metadata: Mapping[str, Any],
    ttgir: Any,
    notes: list[str],
    *,
    made_by: str,
    launch: tuple[int, int] | None = None,
    unseen: str | None = None,
) -> LoadedKernel:
    registers = program.registers
    size = registers.wavefront_size or machine.wavefront_size
    shared, warps = None, None
    if launch is not None:
        shared, warps = launch[0], max(1, launch[1] // size)
    elif not metadata:
        shared = _static_lds(program)
        lanes = min(registers.max_workgroup_size or 0, machine.occupancy.max_workgroup_size)
        warps = max(1, lanes // size) if lanes else None
        if ttgir is not None and shared is None:
            notes.append(f"{NO_LDS}; the .json files of Triton's cache directory contain it")
        if lanes and ttgir is None:
            notes.append(f"{NO_WORKGROUP}: assuming the largest allowed workgroup, {lanes:,} work-items")
    version = metadata.get("triton_version")
    return LoadedKernel(
        name=program.name,
        arch=machine,
        program=program,
        ttgir=ttgir,
        metadata=metadata,
        specialization=Specialization(options={name: metadata[name] for name in _OPTIONS if name in metadata}),
        triton=str(version) if version else None,
        compiler=None if version else made_by,
        shared_bytes=shared,
        num_warps=warps,
        unseen=unseen,
        notes=notes,
    )


def _static_lds(program: amdgcn.AssemblyKernel) -> int | None:
    """Return the LDS per workgroup in the code object; ``None`` if it is allocated at the launch.

    The code object contains 0 for Triton's LDS and HIP's dynamic shared memory. Code that accesses LDS although its
    static size is 0 was therefore built for a size that only the launch determines.
    """
    static = program.registers.lds_bytes_static
    if static:
        return static
    if not program.instructions:
        return None
    for instruction in program.instructions:
        opcode = instruction.opcode
        touches = opcode.cls is amdgcn.InstructionClass.LDS and (opcode.is_load or opcode.is_store or opcode.is_atomic)
        if touches or instruction.to_lds:
            return None
    return static


def _architecture(name: str | None, path: Path) -> Architecture:
    if not name:
        raise InputError("the file does not name its GPU", path=str(path), hint="Give it with --arch.")
    return load_architecture(name)


def _sibling_metadata(path: Path) -> tuple[Mapping[str, Any], list[str]]:
    """Return Triton's metadata of the same kernel, if it is next to the file, and notes on omitted parts."""
    sibling = path.with_suffix(".json")
    try:
        data = boundary.read_bytes(sibling, most=boundary.TEXT_LIMIT)
    except KprofError:
        return {}, []
    # Other JSON files of this name are not metadata.
    return triton_metadata.decoded(data, str(sibling)) if b'"num_warps"' in data else ({}, [])


def _sibling_ttgir(path: Path) -> Any:
    from kprof.inputs import mlir

    sibling = path.with_suffix(".ttgir")
    try:
        return mlir.parse(boundary.read_text(sibling, most=_MAX_BYTES), str(sibling))
    except KprofError:
        return None


def kernels_below(root: Path) -> list[str]:
    """Return the names of the Triton kernels in generated source files below a directory, in file order."""
    names: dict[str, None] = {}
    count = 0
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = Path(folder, name)
            count += 1
            if count > _MAX_FILES:
                return list(names)
            if name.endswith(".py") and not path.is_symlink():
                names |= dict.fromkeys(_names(path))
    return list(names)


def _names(path: Path) -> list[str]:
    return [match.decode() for match in _KERNEL.findall(head_of(path, _MOST_INDUCTOR_BYTES))]


def listing_of(code: "CodeObject", path: Path, *, most: int) -> tuple[amdgcn.Assembly, Path] | None:
    """Return the assembly that a code object was made from, and its file; ``None`` if the folder does not contain it.

    The assembly must be for the same architecture and have kernels of the same names, metadata and code size. A file
    from an earlier compile differs in one of them.

    Args:
        code: the code object.
        path: the code object's file.
        most: maximum number of bytes to read from an assembly file.
    """
    for suffix in _SUFFIXES:
        other = path.with_suffix(suffix)
        try:
            text = boundary.read_bytes(other, most=most).decode(errors="replace")
            assembly = amdgcn.parse(text, str(other), arch=code.arch)
        except KprofError:
            continue
        if not assembly.truncated and _same(code, assembly):
            return assembly, other
    return None


def _same(code: "CodeObject", assembly: amdgcn.Assembly) -> bool:
    if assembly.arch != code.arch or {k.name for k in assembly.kernels} != {k.name for k in code.kernels}:
        return False
    for kernel in code.kernels:
        text = assembly.kernel(kernel.name)
        size = text.comments.get("codeLenInByte")
        if not kernel.metadata or dict(text.metadata) != dict(kernel.metadata) or size != kernel.code_bytes:
            return False
    return True
