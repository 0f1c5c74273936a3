"""Published peaks of a GPU, from its units, its clock and what they do in a cycle."""

from kprof.hardware.machine import Architecture, Product

_FASTER = ("", "_packed", "_dual")
"""Forms of one kind of vector arithmetic; the peak is that of the fastest."""


def bandwidths(
    arch: Architecture, product: Product | None, cus: int | None, xcds: int | None, clock_mhz: float | None
) -> dict[str, float]:
    """Memory level (``lds``, ``l1``, ``l2``, ``mall``, ``hbm``) to its peak in GB/s; unknown ones are not there.

    Args:
        arch: the architecture.
        product: the GPU.
        cus: compute units, as measured or as the product has them.
        xcds: dies, each with an L2 of its own.
        clock_mhz: engine clock.
    """
    ghz = clock_mhz / 1000 if clock_mhz else None
    levels = product.memory if product is not None else arch.memory
    l2 = arch.memory.get("l2")
    channels = l2.channels * xcds if l2 is not None and l2.channels and xcds else None
    found = {
        "lds": _all(cus, ghz, arch.rates.get("lds_read_bytes")),
        "l1": _all(cus, ghz, arch.rates.get("l1_bytes")),
        "l2": _all(channels, ghz, l2.channel_bytes_per_cycle if l2 is not None else None),
        **{name: levels[name].bandwidth_gbs for name in ("mall", "hbm") if name in levels},
    }
    return {name: float(value) for name, value in found.items() if value}


def arithmetic(arch: Architecture, product: Product, kind: str) -> float | None:
    """Peak of a kind of arithmetic (``matrix_fp16``, ``valu_fp32``) in 1e12 operations a second; ``None``: unknown."""
    names = [kind + form for form in _FASTER]
    published = [product.peaks[name] for name in names if product.peaks.get(name)]
    if published:
        return max(published)
    rate = max((arch.rates.get(name) or 0.0 for name in names), default=0.0)
    return _all(product.compute_units, product.clock_mhz, rate / 1e6)


def _all(*factors: float | None) -> float | None:
    """Their product; ``None`` where one is unknown or 0."""
    result = 1.0
    for factor in factors:
        if not factor:
            return None
        result *= factor
    return result
