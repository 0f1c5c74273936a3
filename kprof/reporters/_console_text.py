"""Short texts for the terminal report."""

import re

from msgspec import UNSET, UnsetType

from kprof.document import KernelReport, LoopFacts, NextStep
from kprof.output.quantities import kib

_BAR_CELLS = 8
_GLOBAL = ("global_", "buffer_", "flat_", "image_")
_VERSION = re.compile(r"(\d+)\.(\d+)")
_MAXIMUM_FROM = (3, 6)

LIMITERS = {
    "vgpr": "VGPRs",
    "sgpr": "SGPRs",
    "lds": "LDS",
    "wave_slots": "wave slots",
    "workgroup_slots": "workgroup slots",
    "launch_bounds": "waves_per_eu",
}
"""Names of occupancy limiters for people."""


def waves(value: float) -> str:
    """Format wavefronts per SIMD; integral values without decimals."""
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}".rstrip("0")


def limiter(name: str, waves_per_simd: float = 1) -> str:
    """Return the name of an occupancy limiter. If launch bounds allow no wavefront, the workgroup is too large."""
    return "workgroup size" if name == "launch_bounds" and not waves_per_simd else LIMITERS.get(name, name)


def needs(step: NextStep, lds_bytes: int | UnsetType | None = None, option: str = "") -> str:
    """Describe what the next occupancy requires: ``3 waves need 88 fewer VGPRs and LDS ≤ 21 KiB and waves_per_eu=3``.

    Args:
        step: the next higher occupancy, and the reductions that it needs.
        lds_bytes: current LDS of a workgroup; without it, the LDS reduction is shown in bytes.
        option: an option that must change too, as returned by :func:`option_in_the_way`.
    """
    changes = {step.resource: step.reduce_by, **step.also}
    words = [_need(name, amount, lds_bytes) for name, amount in changes.items()]
    words += [option] if option else []
    head = f"{waves(step.waves_per_simd)} wave{'' if step.waves_per_simd == 1 else 's'}"
    verb = "needs" if step.waves_per_simd == 1 else "need"
    return f"{head} {verb} {' and '.join(words)}"


def _need(resource: str, amount: int, lds_bytes: int | UnsetType | None) -> str:
    kind = resource.removesuffix("_padding")
    if kind == "lds":
        return f"LDS ≤ {kib(lds_bytes - amount)}" if isinstance(lds_bytes, int) else f"{amount:,} B less LDS"
    if kind == "num_warps":
        return f"{amount:,} fewer wavefront{'' if amount == 1 else 's'} per workgroup"
    padding = " of padding (waves_per_eu)" if kind != resource else ""
    return f"{amount:,} fewer {kind.upper()}{'' if amount == 1 else 's'}{padding}"


def option_in_the_way(kernel: KernelReport, wavefronts: float) -> str:
    """Return the option that must be raised to allow a number of wavefronts per SIMD (``waves_per_eu=3``), or "".

    Up to Triton 3.5 the option is a minimum. From 3.6 on, LLVM also uses it as the maximum, and pads registers so that
    no more wavefronts fit.

    Args:
        kernel: the kernel, with its compile options.
        wavefronts: the wanted number of wavefronts per SIMD.
    """
    if kernel.specialization is UNSET or kernel.triton is UNSET:
        return ""
    option = kernel.specialization.options.get("waves_per_eu")
    version = _VERSION.match(kernel.triton)
    if not isinstance(option, int) or version is None or (int(version[1]), int(version[2])) < _MAXIMUM_FROM:
        return ""
    return f"waves_per_eu={waves(wavefronts)}" if 0 < option < wavefronts else ""


def bar(share: float) -> str:
    """Return a text bar of eight cells; any share above zero fills at least one cell."""
    full = max(round(share * _BAR_CELLS), 1 if share > 0 else 0)
    return "█" * full + "░" * (_BAR_CELLS - full)


def config_line(kernel: KernelReport) -> str:
    """Return the compiled knobs, ``BLOCK_M=128 num_warps=4``, and how an autotuner's configuration was chosen."""
    if kernel.specialization is UNSET:
        return ""
    spec = kernel.specialization
    knobs = {**spec.constexprs, **spec.options, **spec.environment}
    words = " ".join(f"{name}={value}" for name, value in knobs.items() if value is not None)
    return words if kernel.autotuned is UNSET else f"{words}   {kernel.autotuned.words}"


def origin_line(kernel: KernelReport) -> str:
    """Return the origin of the code: ``Triton 3.9.0   compiled in 2.1 s, no GPU used``.

    The line begins with the architecture unless the headline already names it.
    """
    parts = [kernel.arch] if isinstance(kernel.product, str) or kernel.triton is UNSET else []
    if kernel.triton is not UNSET:
        parts.append(f"Triton {kernel.triton}")
    elif kernel.compiler is not UNSET:
        parts.append(kernel.compiler)
    if kernel.cached is True:
        parts.append("from the cache, no GPU used")
    elif kernel.compile_seconds is not UNSET:
        parts.append(f"compiled in {kernel.compile_seconds:.1f} s, no GPU used")
    return "   ".join(filter(None, parts))


def loop_summary(loop: LoopFacts) -> str:
    """Summarise a loop in one line: lines, matrix instructions, memory instructions and waits by name, spills."""
    parts = []
    for file, (first, last) in list(loop.lines.items())[:1]:
        name = file.rsplit("/", 1)[-1]
        parts.append(f"{name}:{first}" if first == last else f"{name}:{first}-{last}")
    unit = "MFMA" if any("mfma" in name for name in loop.instructions) else "WMMA"
    counts = [f"{n} {unit} {shape}" for shape, n in loop.matrix.items()]
    for prefix in (_GLOBAL, "ds_"):
        counts += [f"{n} {name}" for name, n in loop.instructions.items() if name.startswith(prefix)]
    counts += [f"{n} {name}" for name, n in loop.waits.items()]
    if loop.spill_accesses:
        counts.append(f"{loop.spill_accesses} scratch accesses (spills)")
    return "   ".join([*parts, " · ".join(counts) or f"{sum(loop.instructions.values())} instructions"])
