"""Compute the peak rates of a GPU from its number of units, its clock and the rates per cycle."""

from kprof.hardware.machine import Architecture, Product

_FASTER = ("", "_packed", "_dual")
"""Name suffixes for the variants of a kind of vector arithmetic: plain, packed, dual-issue. The fastest is the peak."""


def bandwidths(
    arch: Architecture, product: Product | None, cus: int | None, xcds: int | None, clock_mhz: float | None
) -> dict[str, float]:
    """Return the peak bandwidth of each memory level (``lds``, ``l1``, ``l2``, ``mall``, ``hbm``) in GB/s, if known.

    Args:
        arch: the architecture.
        product: the GPU.
        cus: number of compute units, measured or from the product.
        xcds: number of dies, each of which has its own L2.
        clock_mhz: engine clock.
    """
    ghz = clock_mhz / 1000 if clock_mhz else None
    levels = product.memory if product is not None else arch.memory
    l2 = arch.memory.get("l2")
    channels = l2.channels * xcds if l2 is not None and l2.channels and xcds else None
    found = {
        "lds": _product_of(cus, ghz, arch.rates.get("lds_read_bytes")),
        "l1": _product_of(cus, ghz, arch.rates.get("l1_bytes")),
        "l2": _product_of(channels, ghz, l2.channel_bytes_per_cycle if l2 is not None else None),
        **{name: levels[name].bandwidth_gbs for name in ("mall", "hbm") if name in levels},
    }
    return {name: float(value) for name, value in found.items() if value}


def arithmetic(arch: Architecture, product: Product, kind: str) -> float | None:
    """Return the peak of a kind of arithmetic (``matrix_fp16``, ``valu_fp32``) in 1e12 operations/s, or ``None``."""
    names = [kind + form for form in _FASTER]
    published = [product.peaks[name] for name in names if product.peaks.get(name)]
    if published:
        return max(published)
    rate = max((arch.rates.get(name) or 0.0 for name in names), default=0.0)
    return _product_of(product.compute_units, product.clock_mhz, rate / 1e6)


def _product_of(*factors: float | None) -> float | None:
    """Return the product of the factors; ``None`` if one is unknown or 0."""
    result = 1.0
    for factor in factors:
        if not factor:
            return None
        result *= factor
    return result
