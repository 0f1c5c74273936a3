"""Facts about GPU architectures as plain text."""

from collections.abc import Iterable, Sequence
from typing import Any

from kprof.hardware.figures import Figure, figures
from kprof.hardware.model import Architecture, MatrixInstruction, Product

_TITLES = {
    "occupancy": "Occupancy",
    "lds": "LDS",
    "wait_counters": "Wait counters, largest value",
    "rates": "Rates per cycle and CU; 0 means that there is no such unit",
    "memory": "Memory",
    "latencies": "Latencies, from and to",
    "hazards": "Wait states after a matrix instruction, beyond its passes",
    "model": "Performance model, fitted or read off measurements",
    "llvm": "LLVM",
}
_MARK = " ?"
# Columns of the list to drop in a narrow terminal, in this order.
_SPARE = ("FP16 FLOP/clk/CU", "VGPRs/SIMD", "lanes", "waves/SIMD")


def listing(architectures: Iterable[Architecture], width: int | None = None) -> list[str]:
    """Return one row for each architecture, with as many columns as fit."""
    rows = [("arch", "family", "lanes", "waves/SIMD", "VGPRs/SIMD", "LDS/workgroup", "FP16 FLOP/clk/CU", "products")]
    for arch in architectures:
        rules = arch.occupancy
        fp16 = arch.rates.get("matrix_fp16")
        rows.append(
            (
                arch.name,
                arch.family,
                "/".join(str(s) for s in arch.wavefront_sizes),
                str(rules.max_waves_per_simd),
                f"{rules.vgprs[arch.wavefront_size].total:,}",
                f"{arch.lds.bytes_per_workgroup // 1024} KiB",
                "?" if fp16 is None else f"{fp16:,}",
                ", ".join(arch.products) or "",
            )
        )
    lines: list[str] = []
    for dropped in range(len(_SPARE) + 1):
        kept = [place for place, name in enumerate(rows[0]) if name not in _SPARE[:dropped]]
        words = {at for at, place in enumerate(kept) if rows[0][place] in {"arch", "family", "products"}}
        for gap in (3, 2):
            lines = aligned([[row[place] for place in kept] for row in rows], words, gap)
            if width is None or max(map(len, lines)) <= width:
                return lines
    return lines


def sheet(arch: Architecture, product: str | None = None, verbose: int = 0) -> list[str]:
    """Return all facts about one architecture.

    Args:
        arch: the architecture.
        product: the only product to show; ``None`` for all.
        verbose: 1 adds all matrix instructions and the source of each figure.
    """
    known = list(figures(arch))
    lines = [f"{arch.name}   {arch.family}   wavefronts of {' or '.join(str(s) for s in arch.wavefront_sizes)} lanes"]
    lines += ["", *_products([p for p in arch.products.values() if product in {None, p.name}], arch)]
    for table, title in _TITLES.items():
        here = [f for f in known if f.key.startswith(f"{table}.")]
        rows = [_figure_row(f, table, verbose) for f in here if not isinstance(f.value, list)]
        lines += ["", title] if here else []
        lines += aligned(rows, left={0, 2, 3}) if rows else []
        lines += [_list_line(f, table, verbose) for f in here if isinstance(f.value, list)]
    if arch.matrix_instructions:
        lines += ["", *_matrix(arch, verbose)]
    if verbose:
        used = sorted({s for f in known for s in f.sources})
        lines += ["", "Sources", *(f"  {s}: {arch.sources[s].text} ({arch.sources[s].kind})" for s in used)]
    weak = sum(not f.firm for f in known)
    marked = f", {weak} of them not firmly sourced (marked{_MARK})" if weak else ", all of them sourced"
    return [*lines, "", f"{arch.name}: {len(known)} figures{marked}{'' if verbose else '; -v shows the sources'}"]


def document(arch: Architecture) -> dict[str, Any]:
    """Return the facts as data: each figure by its path, with its unit, its sources and whether they are reliable."""
    return {
        "name": arch.name,
        "family": arch.family,
        "generation": arch.generation,
        "products": list(arch.products),
        "matrix_columns": arch.data.get("matrix", {}).get("columns", []),
        "figures": {
            f.key: {"value": f.value, "unit": f.unit, "sources": list(f.sources), "firm": f.firm} for f in figures(arch)
        },
        "sources": {s.id: {"kind": s.kind, "text": s.text} for s in arch.sources.values()},
    }


def aligned(rows: Sequence[Sequence[str]], left: set[int], gap: int = 3) -> list[str]:
    """Align rows in columns as wide as their widest cell.

    Columns in ``left`` are left-aligned, others right-aligned.
    """
    count = max(len(row) for row in rows)
    full = [[*row, *([""] * (count - len(row)))] for row in rows]
    widths = [max(len(row[i]) for row in full) for i in range(count)]
    return [
        "  "
        + (" " * gap)
        .join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
        .rstrip()
        for row in full
    ]


def _figure_row(figure: Figure, table: str, verbose: int) -> tuple[str, ...]:
    value = figure.value
    text = {True: "yes", False: "no"}[value] if isinstance(value, bool) else _number(value)
    unit = f"{figure.unit or ''}{'' if figure.firm else _MARK}"
    return (figure.key.removeprefix(f"{table}."), text, unit, *((", ".join(figure.sources),) if verbose else ()))


def _list_line(figure: Figure, table: str, verbose: int) -> str:
    """Return a line for a figure with several parts, such as the groups of lanes of an LDS access."""
    values = "   ".join(str(v) for v in figure.value)
    sources = f"   {', '.join(figure.sources)}" if verbose else ""
    return f"  {figure.key.removeprefix(f'{table}.')}   {values}   {figure.unit}{'' if figure.firm else _MARK}{sources}"


def _number(value: object) -> str:
    return f"{value:,}" if isinstance(value, int | float) else str(value)


def _products(products: Sequence[Product], arch: Architecture) -> list[str]:
    if not products:
        return ["Products: none known"]
    rows: list[tuple[str, ...]] = [("product", "CUs", "XCDs", "MHz", "memory GB/s", "MALL MiB", "matrix FP16 TFLOPS")]
    for product in products:
        hbm, mall = product.memory.get("hbm"), product.memory.get("mall")
        base = f"products.{product.name}"
        rows.append(
            (
                product.name,
                _cell(arch, f"{base}.compute_units", product.compute_units),
                _cell(arch, f"{base}.xcds", product.xcds),
                _cell(arch, f"{base}.clock_mhz", product.clock_mhz),
                _cell(arch, f"{base}.memory.hbm.bandwidth_gbs", hbm.bandwidth_gbs if hbm else None),
                _cell(
                    arch,
                    f"{base}.memory.mall.size_bytes",
                    mall.size_bytes // 2**20 if mall and mall.size_bytes else None,
                ),
                _cell(arch, f"{base}.peaks.matrix_fp16", product.peaks.get("matrix_fp16")),
            )
        )
    notes = [f"  {p.name}: {p.note}" for p in products if p.note]
    return ["Products", *aligned(rows, left={0}), *notes]


def _cell(arch: Architecture, key: str, value: float | None) -> str:
    if value is None:
        return "-"
    try:
        firm = arch.is_sourced(key)
    except KeyError:
        firm = True  # The product inherits the figure from the architecture, where it is shown and marked.
    return f"{value:,}{'' if firm else _MARK}"


def _matrix(arch: Architecture, verbose: int) -> list[str]:
    chosen = list(arch.matrix_instructions.values()) if verbose else _fastest(arch)
    mark = "" if arch.is_sourced("matrix.instructions") else _MARK
    rows: list[tuple[str, ...]] = [("instruction", "m n k", "blocks", "cycles", "FLOP/clk/CU", "VGPRs a b d")]
    rows += [
        (
            i.name,
            f"{i.m} {i.n} {i.k}",
            str(i.blocks),
            f"{i.cycles}{mark}",
            f"{i.flops_per_cycle:,.0f}",
            " ".join("?" if v is None else str(v) for v in (i.vgprs_a, i.vgprs_b, i.vgprs_d)),
        )
        for i in chosen
    ]
    left = len(arch.matrix_instructions) - len(chosen)
    title = f"Matrix instructions{f', the fastest of each type ({left} more: -v)' if left else ''}"
    return [title, *aligned(rows, left={0})]


def _fastest(arch: Architecture) -> list[MatrixInstruction]:
    best: dict[str, MatrixInstruction] = {}
    for instruction in arch.matrix_instructions.values():
        if instruction.sparse:
            continue
        other = best.get(instruction.type)
        if other is None or _rank(instruction) > _rank(other):
            best[instruction.type] = instruction
    return list(best.values())


def _rank(instruction: MatrixInstruction) -> tuple[float, int]:
    """Return a sort key for matrix instructions: higher rates first, then fewer blocks, as compilers choose them."""
    return (instruction.flops_per_cycle, -instruction.blocks)
