"""Environment variables that change the code that Triton generates: set for one compile, and restored after it."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from kprof.compiler.versions import installed
from kprof.errors import CompileError, near_hint

SWITCHES: Mapping[str, str] = {
    "AMDGCN_USE_BUFFER_OPS": "buffer loads and stores where pointers have a 32-bit range",
    "AMDGCN_USE_BUFFER_ATOMICS": "buffer atomics in addition (3.5 and later)",
    "AMDGCN_ANALYZE_SMALL_TENSOR_RANGE": "prove 32-bit ranges by analysis (3.6 and later)",
    "AMDGCN_SCALARIZE_PACKED_FOPS": "split packed float operations",
    "TRITON_HIP_USE_BLOCK_PINGPONG": "alternate memory and matrix clusters between warps",
    "TRITON_HIP_USE_IN_THREAD_TRANSPOSE": "transpose in registers before LDS stores",
    "TRITON_HIP_USE_ASYNC_COPY": "copy from global memory straight into LDS",
    "TRITON_HIP_USE_COEXEC_SCHEDULER": "co-execution scheduling (gfx1250, 3.8 and later)",
    "TRITON_HIP_USE_EXPERT_SCHEDULING": "expert scheduling mode (gfx1250, 3.8 and later)",
    "TRITON_HIP_GLOBAL_PREFETCH": "extra global prefetch stages (3.3 to 3.5)",
    "TRITON_HIP_LOCAL_PREFETCH": "extra LDS prefetch stages (3.3 to 3.5)",
    "TRITON_DEFAULT_FP_FUSION": "whether multiplies and adds are fused when the option is not given",
    "TRITON_FORCE_DISABLE_FP_FUSION": "never fuse multiplies and adds (3.9 and later)",
    "TRITON_F32_DEFAULT": "input precision of float32 dots",
    "TRITON_DISABLE_LINE_INFO": "omit source lines",
    "TRITON_ENABLE_ASAN": "address sanitizer",
    "TRITON_INSTRUMENTATION_MODE": "instrumentation",
    "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS": "allow kernels to read globals that are not constexpr",
    "TRITON_AMD_CODEGEN_PATH": "another code generator library (3.9 and later)",
    "TRITON_HIP_LLD_PATH": "linker (3.4 and 3.5)",
    "TRITON_OVERRIDE_ARCH": "compile for this architecture instead of the requested one",
    "TRITON_DEBUG": "device-side assertions and overflow checks",
    "DISABLE_LLVM_OPT": "skip LLVM passes",
    "LLVM_PASS_PLUGIN_PATH": "LLVM plugin",
    "TRITON_PREFER_TMEM_16x256_LAYOUT": "layout preference",
}
"""Variables that change the generated code, with their effects. Their values are part of every cache key."""

_OBSOLETE: Mapping[str, str] = {
    "OPTIMIZE_EPILOGUE": "Only Triton before 3.1 reads it. Newer versions always store results in the layout "
    "of the matrix instructions, without using LDS.",
}
"""Obsolete variables that guides still mention, with the reason why newer versions of Triton ignore them."""


def check(environment: Mapping[str, str | None]) -> None:
    """Check that Triton knows the variables of a request.

    Raises:
        KprofError: if a variable is unknown; the message names similar variables.
    """
    for name, value in environment.items():
        if name not in SWITCHES and not name.startswith(("LLVM_", "MLIR_")) and not _in_knobs(name):
            hint = _OBSOLETE.get(name) or near_hint(name, sorted(SWITCHES), "known are")
            raise CompileError(f"{name} is not an environment variable that changes how Triton compiles", hint=hint)
        if value is not None and "\0" in value:
            raise CompileError(f"the value of {name} has a zero byte")


def _in_knobs(name: str) -> bool:
    """Return whether the installed Triton reads a variable. This accepts variables that are newer than ``SWITCHES``."""
    path = installed().root / "knobs.py"
    return path.is_file() and f'"{name}"' in path.read_text(encoding="utf-8")


def relevant(environment: Mapping[str, str | None]) -> dict[str, str]:
    """Return the variables that affect a compile: those of this process, overridden by the request's."""
    merged = {**{name: os.environ.get(name) for name in SWITCHES}, **environment}
    return {name: value for name, value in sorted(merged.items()) if value is not None}


@contextmanager
def applied(environment: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables (or unset those with the value ``None``), and restore all of them afterwards.

    Triton reads its variables when it uses them, both from Python and from C++, so this works in a process that
    imported Triton earlier. A value set through ``triton.knobs`` would override the variable.
    """
    before = {name: os.environ.get(name) for name in environment}
    _set(environment)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
