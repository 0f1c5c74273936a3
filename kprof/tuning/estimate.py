"""Estimate the rough cost of a configuration before it is compiled. The cost orders the queue and is never shown.

For a matrix product with knobs for M, N and K, the cost in cycles of one CU is based on two bounds: matrix work, and
the bytes of tiles at the model's L2 load rate, times the rounds in which the grid runs. The larger bound dominates.
Tiles that need more registers or LDS than available cost more.

For other kernels the cost is the distance to the kernel's own configuration, which its author chose. A kernel
without its own configuration is ordered by the distance to 8 elements per lane.
"""

from collections.abc import Mapping
from math import ceil, log2
from typing import Any

from kprof.hardware.machine import Architecture, Product
from kprof.knobs import is_tile_name, number, role_names
from kprof_analyzers.model.machine import machine_of

_MATRIX_RATES = {1: "matrix_fp8", 2: "matrix_fp16", 4: "matrix_fp32", 8: "matrix_fp64"}
_FLOPS_PER_CYCLE = 1024.0
_OVER = 4.0
_STEP = 0.15


class Estimate:
    """Estimates the cost of configurations for one problem.

    Args:
        arch, product: the GPU that the kernel runs on.
        shape: problem parameters.
        element_bytes: size of the operands' elements; ``None``: unknown, 2 is assumed.
        own: the kernel's own knobs.
    """

    def __init__(
        self,
        arch: Architecture,
        product: Product | None,
        shape: Mapping[str, Any],
        element_bytes: int | None,
        own: Mapping[str, Any] | None = None,
    ) -> None:
        self._own = own or {}
        known = product or next(iter(arch.products.values()), None)
        sizes = [one.compute_units for one in (known, *arch.products.values()) if one is not None]
        # If a product's number of CUs is not published, use that of the architecture's first product.
        self._units = next(filter(None, sizes), None) or 1
        self._lanes = arch.wavefront_size
        self._bytes_per_cycle = machine_of(arch, known, self._lanes).vector_bytes
        self._lds = arch.lds.bytes_per_workgroup
        self._element = element_bytes or 2
        self._registers = arch.occupancy.max_vgprs_total
        rate = arch.rates.get(_MATRIX_RATES.get(self._element, "")) or arch.rates.get("valu_fp32")
        self._rate = float(rate or _FLOPS_PER_CYCLE)
        self._sizes = {name: shape.get(name) for name in ("M", "N", "K", "B", "E")}

    def cost(self, config: Mapping[str, Any]) -> float:
        """Return a relative cost; smaller is better."""
        roles = role_names(config)
        tile = [number(config, roles.get(role)) for role in "mnk"]
        sizes = [self._sizes[name] for name in "MNK"]
        warps = number(config, "num_warps") or 4
        if all(isinstance(v, int) and v > 0 for v in (*tile, *sizes)):
            m, n, k = (int(v) for v in tile if v is not None)
            split = number(config, roles.get("split")) or 1
            return self._product((m, n, k), [int(s) for s in sizes if s is not None], split, warps, config)
        return self._far(config) if self._own else self._rows(config, warps)

    def _far(self, config: Mapping[str, Any]) -> float:
        """Return a cost that grows with the number of doublings between the configuration and the kernel's own one."""
        away = 0.0
        for name, own in self._own.items():
            value = config.get(name, own)
            numbers = isinstance(value, int) and isinstance(own, int) and value > 0 and own > 0
            away += abs(log2(value) - log2(own)) if numbers else float(value != own)
        return 1 + _STEP * away

    def _product(
        self, tile: tuple[int, int, int], sizes: list[int], split: int, warps: int, config: Mapping[str, Any]
    ) -> float:
        m, n, k = tile
        tiles = ceil(sizes[0] / m) * ceil(sizes[1] / n)
        steps = ceil(ceil(sizes[2] / k) / split)
        rounds = max(1.0, tiles * split / self._units)
        rounds = ceil(rounds) if rounds < 8 else rounds
        matrix = 2 * m * n * k / self._rate
        memory = (m + n) * k * self._element / self._bytes_per_cycle
        cost = rounds * (steps * (max(matrix, memory) + 0.3 * min(matrix, memory)) + 2000 + 0.5 * m * n / warps)
        if split > 1:
            cost += 4000 + sizes[0] * sizes[1] * 4 * (split + 1) / (self._bytes_per_cycle * self._units)
        held = m * n / (warps * self._lanes)
        if held > 256:
            cost *= _OVER
        elif held > 128:
            cost *= 1.1
        elif held < 16:
            cost *= 1.3
        stages = config.get("num_stages")
        staged = (m + n) * k * self._element * (stages - 1 if isinstance(stages, int) and stages > 1 else 1)
        return cost * (_OVER if staged > self._lds else 1.0)

    def _rows(self, config: Mapping[str, Any], warps: int) -> float:
        held = 1.0
        for name, value in config.items():
            if is_tile_name(name) and (size := number({name: value}, name)):
                held *= size
        away = abs(log2(max(held / (warps * self._lanes), 1e-3) / 8))
        return 1 + 0.2 * away + (_OVER if held / (warps * self._lanes) > self._registers else 0)
