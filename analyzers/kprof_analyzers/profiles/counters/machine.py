"""Which GPU the counters are of, and its constants for the formulas."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError
from kprof.hardware import machine
from kprof.hardware.machine import Architecture, Product

if TYPE_CHECKING:
    from kprof.inputs.rocprof import Data


@dataclass(frozen=True)
class Gpu:
    """The GPU that was measured.

    Attributes:
        arch: architecture.
        product: when it is known; peaks need it.
        cus: compute units, as the measurement says or else the product's.
        xcds: as ``cus``.
        constants: what formulas may use, in lower case; a constant that is not known is not there.
        origin: how it was found out, in words.
    """

    arch: Architecture
    product: Product | None
    cus: int | None
    xcds: int | None
    constants: Mapping[str, float]
    origin: str


def gpu_of(data: "Data", name: str | None = None) -> Gpu:
    """The GPU of measurements, or the one named.

    Args:
        data: may hold agents or a workload's system description.
        name: architecture or product, overriding what the data says.

    Raises:
        KprofError: nothing says which GPU it was, or the name is unknown.
    """
    agents = data.agents
    gpus = agents[agents["type"].astype(str) == "GPU"] if len(agents) else agents
    row = gpus.iloc[0] if len(gpus) else None
    origin = "as given"
    said = name
    if said is None and row is not None:
        said = product_in(str(row.get("product", ""))) or str(row["name"])
        origin = "from the measurement"
    if said is None:
        raise InputError(
            "the files do not say which GPU was measured",
            hint="name it: --arch MI300X (a product gives peaks too) or --arch gfx942",
        )
    product = machine.find_product(said)
    arch = machine.load(product.arch if product else said)
    reported = row if row is not None and _same(row, arch) else None
    cus = _integer(reported, "cu_count") or (product.compute_units if product else None)
    xcds = _integer(reported, "xcd_count") or (product.xcds if product else None)
    clock = _integer(reported, "max_clock_mhz") or (product.clock_mhz if product else None)
    return Gpu(arch, product, cus, xcds, _constants(arch, product, cus, xcds, clock), origin)


def _same(row: Any, arch: Architecture) -> bool:
    name = str(row["name"])
    return name.partition(":")[0] == arch.name


def product_in(text: str) -> str | None:
    """``MI300X_A1`` and ``AMD Instinct MI300X`` as ``MI300X``."""
    words = re.split(r"[^A-Za-z0-9]+", text)
    candidates = [*words, *("".join(pair) for pair in pairwise(words))]
    for word in candidates:
        if word and machine.find_product(word) is not None:
            return word
    return None


def _integer(row: Any, name: str) -> int | None:
    import pandas as pd

    if row is None or name not in row or pd.isna(row[name]):
        return None
    return int(row[name]) or None


def _constants(
    arch: Architecture, product: Product | None, cus: int | None, xcds: int | None, clock: int | None
) -> dict[str, float]:
    l1, l2 = arch.memory.get("l1"), arch.memory.get("l2")
    ghz = clock / 1000 if clock else None
    lds_bytes = arch.rates.get("lds_read_bytes")
    l1_bytes = arch.rates.get("l1_bytes")
    # Where all products are one die the measured one is, too.
    single = {known.xcds for known in arch.products.values()} == {1}
    one_xcd = 1 if xcds is None and single else xcds
    channels = l2.channels * (one_xcd or 1) if l2 and l2.channels else None
    width = l2.channel_bytes_per_clock if l2 else None
    memory = (product.memory if product else arch.memory).get("hbm")
    found = {
        "cus": cus,
        "xcds": one_xcd,
        "max_waves_per_cu": arch.occupancy.max_waves_per_simd * arch.occupancy.simds_per_cu,
        "lds_banks": arch.lds.banks,
        "l1_line": l1.line_bytes if l1 else None,
        "l2_line": l2.line_bytes if l2 else None,
        "lds_peak": _product_of(cus, ghz, lds_bytes),
        "vl1d_peak": _product_of(cus, ghz, l1_bytes),
        "l2_peak": _product_of(channels, ghz, width),
        "hbm_peak": memory.bandwidth_gbs if memory else None,
        "max_clock": clock or max((p.clock_mhz or 0 for p in arch.products.values()), default=0) or None,
    }
    return {name: float(value) for name, value in found.items() if value is not None}


def _product_of(*factors: float | None) -> float | None:
    result = 1.0
    for factor in factors:
        if factor is None:
            return None
        result *= factor
    return result
