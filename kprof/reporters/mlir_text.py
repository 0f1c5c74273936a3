"""Text of ``kprof ingest mlir``: layouts, LDS, and the changes made by each pass."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from kprof.output.headline import wrapped
from kprof.output.quantities import plural
from kprof.output.tables import rows_table

if TYPE_CHECKING:
    from kprof.compiler.dumped import DumpedModule
    from kprof_analyzers.memory.lds_walk import LdsPass, LdsWalk

_WORDS = {
    "allocated": "LDS of declared buffers, bytes",
    "buffers": "buffers of the deepest pipeline",
    "convert_layout": "layout conversions",
    "local_alloc": "LDS buffers",
    "local_load": "reads of LDS",
    "local_store": "writes of LDS",
    "async_copy": "copies straight into LDS",
    "loads": "loads",
    "buffer_ops": "buffer loads and stores",
    "dots": "matrix products",
    "loops": "loops",
    "vector_max": "widest access, bytes per thread",
    "vector_min": "narrowest access, bytes per thread",
}
_MOST_PASSES = 20
_MOST_READS = 4
_ADVICE = "AMD's guide advises using LDS once: load the tile in the order of the product, and convert it in registers."


def show(modules: "Sequence[DumpedModule]", walks: "Sequence[LdsWalk]") -> None:
    """Print each module."""
    for one, walk in zip(modules, walks, strict=True):
        _print_module(one, walk)


def verdict(modules: "Sequence[DumpedModule]", walks: "Sequence[LdsWalk]") -> str:
    """Return the number of modules, or the resources if there is a single module."""
    passes = sum(one.pass_count for one in modules)
    if len(modules) == 1:
        one = modules[0]
        shared = "LDS not placed yet" if one.shared is None else f"{one.shared:,} bytes of LDS"
        warps = "" if one.num_warps is None else f", {plural(one.num_warps, 'wavefront')} per workgroup"
        ran = f", {_runs(passes)}" if passes else ""
        repeated = max(map(len, walks[0].chains), default=0)
        again = f", one value through LDS {_times(repeated)}" if repeated else ""
        return f"{one.kernel or 'module'}: {shared}{warps}{ran}{again}; registers and time need the assembly"
    return f"{plural(len(modules), 'kernel')}, {_runs(passes)}; registers and time need the assembly"


def _runs(count: int) -> str:
    return f"{count:,} pass{'' if count == 1 else 'es'}"


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _print_module(one: "DumpedModule", walk: "LdsWalk") -> None:
    print(f"{one.kernel or 'module'}" + (f" for {one.target}" if one.target else ""))
    if one.last is not None:
        print(f"  as printed before {one.last}, of {_runs(one.pass_count)}")
    rows: list[list[Any]] = [["wavefronts per workgroup", one.num_warps], ["LDS of a workgroup, bytes", one.shared]]
    rows += [[_WORDS[name], value] for name, value in one.measures.items() if name in _WORDS]
    print(rows_table(["", ""], [[name, "unknown" if value is None else value] for name, value in rows]))
    _lds(walk)
    for name, text in one.layouts.items():
        print(f"  {name} = {text}")
    if one.passes:
        _passes(one.passes)
    for note in one.notes:
        print(f"warning  {note}")
    print(wrapped(f"  not known without the assembly: {', '.join(one.unknown)}") + "\n")


def _lds(walk: "LdsWalk") -> None:
    """Print one line per value that passes through LDS, and mark the values that do so more than once."""
    if walk.passes:
        print("  values through LDS, with lines of the text:")
        rows = [_pass(one) for one in walk.passes[:_MOST_PASSES]]
        print(rows_table(["value", "tensor", "bytes", "written", "read", "source"], rows))
    if len(walk.passes) > _MOST_PASSES:
        print(f"  {len(walk.passes) - _MOST_PASSES} more (--json)")
    if walk.unknown_conversions:
        count = plural(walk.unknown_conversions, "layout conversion")
        print(wrapped(f"  {count} may go through LDS or not: kprof does not know their layouts"))
    for chain in walk.chains[:_MOST_PASSES]:
        ways = [walk.passes[number] for number in chain]
        names = ", then ".join(f"{one.value or one.operation} (line {one.write})" for one in ways)
        print(wrapped(f"warning  LDS is used {_times(len(ways))} for one value: {names}"))
        missing = list(dict.fromkeys(name for one in ways for name in one.undefined))
        if missing:
            print(wrapped(f"  likely, not certain: the text does not define {', '.join(missing)}"))
    if walk.chains:
        print(wrapped(f"  {_ADVICE}"))


def _pass(one: "LdsPass") -> list[Any]:
    reads = ", ".join(map(str, one.reads[:_MOST_READS])) + (", ..." if len(one.reads) > _MOST_READS else "")
    size = "unknown" if one.bytes is None else one.bytes
    return [one.value or one.operation, one.shape, size, one.write, reads or "not found", one.source]


def _passes(rows: list[dict[str, Any]]) -> None:
    """Print one line per pass that changed something, with its changes."""
    print("\n  passes that changed a counted value:")
    before: dict[str, Any] = {}
    for row in rows:
        after = {name: value for name, value in row.items() if name not in {"order", "pass", "stage"}}
        parts = [
            f"{name} {value}" if before.get(name, 0) is None else f"{name} {before.get(name, 0)} -> {value}"
            for name, value in after.items()
            if value is not None and value != before.get(name, 0)
        ]
        said = ", ".join(parts) or "lowered: no layouts after this pass"
        print(f"  {row['order']:4} {row['pass']}: {said}")
        before = after
