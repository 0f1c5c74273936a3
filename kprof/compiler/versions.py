"""Differences between Triton 3.4 and 3.9. Only this module and ``switches`` import Triton's internals.

========  ==============================================================================================
version   difference
========  ==============================================================================================
3.4       ``ASTSource.make_ir`` takes no target; linking the code object needs an external ``ld.lld``
          (:func:`linker`); the kernel's own ``name`` of ``HIPOptions`` carries ``cluster_dims``; arguments are
          numbered in the IR (:func:`with_argument_names`)
3.6       ``ASTSource.make_ir`` takes the target first
3.9       code generation lives in ``libtriton_amd_codegen.so``; without ``enable_fp_fusion`` there is a warning
          (:func:`quiet`); stages read ``num_ctas`` from the metadata
========  ==============================================================================================
"""

import importlib.util
import inspect
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from kprof.cache.content import of_folders
from kprof.cache.keys import key
from kprof.errors import CompileError

MINIMUM = (3, 4)
_INSTALL = 'pip install "triton>=3.4" gets one; kprof never installs or replaces it by itself'
_VERSION = re.compile(r"^__version__\s*=\s*[\"']([^\"']+)", re.MULTILINE)
_NUMBERS = re.compile(r"(\d+)\.(\d+)")

# Paths below Triton's root that affect the generated code.
_CODE = ("knobs.py", "compiler", "language", "runtime", "experimental", "backends/amd", "_C")
_SUFFIXES = frozenset({".py", ".so", ".bc", ".dylib"})


@dataclass(frozen=True)
class Installed:
    """The Triton that this Python would import.

    Attributes:
        version: ``3.9.0``.
        root: folder of the package.
    """

    version: str
    root: Path

    @property
    def numbers(self) -> tuple[int, int]:
        """Major and minor version."""
        found = _NUMBERS.match(self.version)
        return (int(found[1]), int(found[2])) if found else (0, 0)


@cache
def installed() -> Installed:
    """Find Triton without importing it.

    Raises:
        KprofError: if Triton is not installed, older than 3.4, or built without the AMD backend.
    """
    spec = importlib.util.find_spec("triton")
    if spec is None or spec.origin is None:
        raise CompileError("Triton is not installed, and only its compiler can compile this kernel", hint=_INSTALL)
    root = Path(spec.origin).parent
    found = _VERSION.search(Path(spec.origin).read_text(encoding="utf-8", errors="replace"))
    triton = Installed(found[1] if found else "unknown", root)
    if triton.numbers < MINIMUM:
        raise CompileError(f"Triton {triton.version} is too old, kprof needs 3.4 or newer", hint=_INSTALL)
    if not (root / "backends" / "amd" / "compiler.py").is_file():
        raise CompileError(
            f"this Triton {triton.version} was built without the AMD backend",
            path=str(root),
            hint='the wheels on PyPI have it: pip install "triton>=3.4"',
        )
    return triton


@cache
def identity() -> str:
    """Return a SHA-256 of the installed Triton's version and of the contents of its compiler's files.

    The hash is the same for the same release installed again or elsewhere.

    Raises:
        KprofError: see :func:`installed`.
    """
    triton = installed()
    return key(triton.version, of_folders([triton.root / name for name in _CODE], _SUFFIXES))


@dataclass(frozen=True)
class Api:
    """The parts of Triton that kprof uses, independent of the version."""

    version: str
    ir: Any
    make_backend: Any
    gpu_target: Any
    language: Any
    ast_source: Any
    hip_options: Any
    jit_function: Any
    dtype: Any
    constexpr: Any
    environment: Any

    @property
    def numbers(self) -> tuple[int, int]:
        """Major and minor version."""
        return Installed(self.version, Path()).numbers

    @cached_property
    def gluon_source(self) -> Any:
        """Gluon's source class, or ``None`` without Gluon. Gluon is imported on demand, because few kernels use it."""
        try:
            from triton.experimental.gluon._runtime import GluonASTSource
        except ImportError:
            return None
        return GluonASTSource


@cache
def api() -> Api:
    """Import Triton.

    The interpreter switch is unset during the import, because Triton decides at import whether its library can be
    compiled.

    Raises:
        KprofError: see :func:`installed`; also if Triton is broken and cannot be imported.
    """
    triton = installed()
    interpret = os.environ.pop("TRITON_INTERPRET", None)
    try:
        return _import(triton.version)
    except (ImportError, AttributeError, OSError) as error:
        raise CompileError(
            f"Triton {triton.version} cannot be imported: {error}", path=str(triton.root), hint=_INSTALL
        ) from error
    finally:
        if interpret is not None:
            os.environ["TRITON_INTERPRET"] = interpret


def _import(version: str) -> Api:
    from triton._C.libtriton import get_cache_invalidating_env_vars, ir
    from triton.backends.amd.compiler import HIPOptions
    from triton.backends.compiler import GPUTarget, Language
    from triton.compiler.compiler import ASTSource, make_backend
    from triton.language.core import constexpr, dtype
    from triton.runtime.jit import JITFunction

    return Api(
        version=version,
        ir=ir,
        make_backend=make_backend,
        gpu_target=GPUTarget,
        language=Language,
        ast_source=ASTSource,
        hip_options=HIPOptions,
        jit_function=JITFunction,
        dtype=dtype,
        constexpr=constexpr,
        environment=get_cache_invalidating_env_vars,
    )


def warp_size(arch: str) -> int:
    """Return the lanes per wavefront in Triton's compiles: 32 from gfx10 on, else 64.

    Source: ``HIPOptions.__post_init__``.
    """
    found = re.match(r"gfx(\d+)[0-9a-f]{2}", arch)
    return 32 if found and int(found[1]) >= 10 else 64


def buffer_ops_default(version: tuple[int, int]) -> bool:
    """Return whether ``AMDGCN_USE_BUFFER_OPS`` is on by default: since 3.6 (``knobs.py``)."""
    return version >= (3, 6)


CODE_SWITCHES = ("AMDGCN_USE_BUFFER_OPS", "TRITON_HIP_USE_ASYNC_COPY", "TRITON_HIP_USE_BLOCK_PINGPONG")
"""Environment switches that change the code of a kernel."""


def waves_per_eu_default(version: tuple[int, int]) -> int:
    """Return the default of ``waves_per_eu``: 1 up to Triton 3.5; since 3.6 it is 0, and the compiler chooses."""
    return 0 if version >= (3, 6) else 1


def make_ir(source: Any, target: Any, backend: Any, options: Any, context: Any) -> Any:
    """Return the unoptimised module of a source."""
    implementation = backend.get_codegen_implementation(options)
    arguments = (options, implementation, backend.get_module_map(), context)
    if "target" in inspect.signature(source.make_ir).parameters:
        return source.make_ir(target, *arguments)
    return source.make_ir(*arguments)


@contextmanager
def quiet(messages: list[str]) -> Iterator[None]:
    """Collect Python warnings as text instead of showing them. Triton's warning about its fusion default is dropped."""
    import warnings

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield
        finally:
            texts = (str(item.message) for item in caught)
            messages.extend(text for text in texts if "TRITON_DEFAULT_FP_FUSION" not in text)


def option_defaults(hip_options: Any) -> dict[str, Any]:
    """Return the defaults of the backend options that a user may set.

    ``arch`` and ``backend_name`` are excluded, because the request determines them.
    """
    return {item.name: item.default for item in fields(hip_options) if item.name not in {"arch", "backend_name"}}


@contextmanager
def linker(version: tuple[int, int], environment: Mapping[str, str | None]) -> Iterator[None]:
    """Let Triton 3.4 and 3.5 find ``ld.lld`` wherever it is; newer versions link without it."""
    name = "TRITON_HIP_LLD_PATH"
    found = None if version >= (3, 6) or name in environment or name in os.environ else find_linker()
    if found is None:
        yield
        return
    os.environ[name] = found
    try:
        yield
    finally:
        os.environ.pop(name, None)


@cache
def find_linker() -> str | None:
    """Return the path of ``ld.lld`` from ROCm or PATH, possibly with a version in its name, or None."""
    for candidate in ("/opt/rocm/llvm/bin/ld.lld", "ld.lld", *(f"ld.lld-{n}" for n in range(24, 14, -1))):
        found = shutil.which(candidate)
        if found:
            return found
    return None


_NUMBERED = re.compile(r"%arg(\d+)\b")


def with_argument_names(module: str, names: Sequence[str]) -> str:
    """Return TTGIR with the names of the kernel's arguments, as newer versions print them; 3.4 prints numbers.

    Args:
        module: text with one function; other modules are returned unchanged.
        names: names of the run-time arguments in order; if their number is not the function's, nothing is changed.
    """
    head = next((line for line in module.splitlines() if line.lstrip().startswith("tt.func ")), "")
    declared = re.findall(r"%([\w$.-]+): ", head)
    if declared != [f"arg{n}" for n in range(len(names))] or module.count("tt.func ") != 1:
        return module
    # Loop-carried values have numbers after those of the arguments, and stay unchanged.
    return _NUMBERED.sub(lambda found: f"%{names[n]}" if (n := int(found[1])) < len(names) else found[0], module)
