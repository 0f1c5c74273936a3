"""Small pieces of text for the terminal report."""

from msgspec import UNSET

from kprof.report import KernelReport, LoopFacts

_BAR_CELLS = 8
_GLOBAL = ("global_", "buffer_", "flat_", "image_")
_SHOWN = 3

LIMITERS = {
    "vgpr": "VGPRs",
    "sgpr": "SGPRs",
    "lds": "LDS",
    "wave_slots": "wave slots",
    "workgroup_slots": "workgroup slots",
    "launch_bounds": "waves_per_eu",
}
"""Limiters of occupancy in words."""


def plural(count: int, noun: str) -> str:
    """``1 warning``, ``2 warnings``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def waves(value: float) -> str:
    """Wavefronts per SIMD: whole numbers without decimals."""
    return f"{value:.0f}" if value == int(value) else f"{value:.2f}".rstrip("0")


def kib(size: int) -> str:
    """Bytes in KiB when that is exact enough to recognise, else in bytes."""
    return f"{size:,} B" if size < 1024 else f"{size / 1024:.1f} KiB".replace(".0 KiB", " KiB")


def reduction(resource: str, amount: int) -> str:
    """What is to go, in words: ``-8 VGPRs``."""
    if resource == "lds":
        return f"-{amount:,} B LDS"
    if resource in {"vgpr", "agpr", "sgpr"}:
        return f"-{amount} {resource.upper()}s"
    if resource in {"vgpr_padding", "sgpr_padding"}:
        return f"-{amount} {resource[:4].upper()}s of padding (waves_per_eu)"
    return f"-{amount} {resource}"


def bar(share: float) -> str:
    """A bar of eight cells; something is shown for any share above zero."""
    full = max(round(share * _BAR_CELLS), 1 if share > 0 else 0)
    return "█" * full + "░" * (_BAR_CELLS - full)


def config_line(kernel: KernelReport) -> str:
    """The knobs and how the code came about: ``BLOCK_M=128 ... compiled in 2.1 s (no GPU used)``."""
    parts = []
    if kernel.specialization is not UNSET:
        spec = kernel.specialization
        knobs = {**spec.constexprs, **spec.options, **spec.environment}
        parts.append(" ".join(f"{name}={value}" for name, value in knobs.items() if value is not None))
    if kernel.cached is True:
        parts.append("from the cache (no GPU used)")
    elif kernel.compile_seconds is not UNSET:
        parts.append(f"compiled in {kernel.compile_seconds:.1f} s (no GPU used)")
    return "   ".join(p for p in parts if p)


def loop_summary(loop: LoopFacts, *, full: bool = False) -> str:
    """What a loop does in one line: lines, matrix work, memory instructions by width, drains, spills.

    Args:
        loop: the loop.
        full: every memory instruction and wait instead of the most frequent ones.
    """
    parts = []
    for file, (first, last) in list(loop.lines.items())[:1]:
        name = file.rsplit("/", 1)[-1]
        parts.append(f"{name}:{first}" if first == last else f"{name}:{first}-{last}")
    counts = [f"{n} MFMA {shape}" for shape, n in loop.matrix.items()]
    counts += _most({k: n for k, n in loop.instructions.items() if k.startswith(_GLOBAL)}, full=full)
    counts += _most({k: n for k, n in loop.instructions.items() if k.startswith("ds_")}, full=full)
    counts += _most({k: n for k, n in loop.waits.items() if full or k.endswith("(0)")}, full=full)
    if loop.spill_accesses:
        counts.append(f"{loop.spill_accesses} scratch accesses (spills)")
    return "   ".join([*parts, " · ".join(counts) or f"{sum(loop.instructions.values())} instructions"])


def _most(counts: dict[str, int], *, full: bool) -> list[str]:
    """The most frequent entries, and how many further instructions are left out."""
    shown = list(counts.items()) if full else list(counts.items())[:_SHOWN]
    left = sum(counts.values()) - sum(n for _, n in shown)
    family = next(iter(counts), "").split("_")[0]
    return [*(f"{n} {name}" for name, n in shown), *([f"{left} other {family}_*"] if left else [])]
