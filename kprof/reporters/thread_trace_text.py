"""Text of ``kprof ingest thread-trace``: where the traced wavefronts spent their cycles."""

from typing import Any

from kprof.inputs.thread_trace import DecodedThreadTrace, LineCost
from kprof.output.tables import rows_table


def verdict(trace: DecodedThreadTrace) -> str:
    """Return the number of issued instructions, and their total latency."""
    return f"{trace.hits:,} instructions issued in {trace.latency:,} cycles, summed over wavefronts"


def show(trace: DecodedThreadTrace, top: int) -> None:
    """Print the cost of lines, mnemonics and instructions, and the data of single wavefronts."""
    if trace.dispatches:
        print(rows_table(["dispatch", "agent", "kernel", "issued", "cycles", "folder"], _dispatches(trace)))
        print(f"{len(trace.dispatches)} dispatches; the first one is shown; to see another one, pass its path\n")
    waves = f" of {trace.wavefronts} wavefronts" if trace.wavefronts else ""
    if trace.lifetimes:
        mean = sum(trace.lifetimes) / len(trace.lifetimes)
        waves += f" that lived {mean:,.0f} cycles ({min(trace.lifetimes):,} to {max(trace.lifetimes):,})"
    print(f"{trace.kernel or 'kernel'}   {trace.format}   {len(trace.instructions):,} instructions{waves}\n")
    for heading, costs in (("source line", trace.by_line()), ("instruction", trace.by_mnemonic())):
        print(rows_table([heading, "cycles", "share", "issued", "cycles each"], _rows(costs[:top])))
        print()
    hottest = sorted(trace.instructions, key=lambda one: -one.latency)[:top]
    rows: list[list[Any]] = [
        [one.text, hex(one.address) if one.address is not None else "?", one.hits, one.latency, _short(one.source)]
        for one in hottest
    ]
    print(rows_table(["slowest", "address", "issued", "cycles", "source"], rows))
    _show_timeline(trace, top)
    for issue in trace.issues:
        print(f"warning  {issue}")
    print()


def _dispatches(trace: DecodedThreadTrace) -> list[list[Any]]:
    def shown(number: int | None) -> str:
        return "?" if number is None else str(number)

    return [[shown(one.dispatch), shown(one.agent), one.kernel or "?", one.hits, one.latency, _folder(one.path)]
            for one in trace.dispatches]  # fmt: skip


def _folder(path: str) -> str:
    return "/".join(path.replace("\\", "/").split("/")[-2:])


def _show_timeline(trace: DecodedThreadTrace, top: int) -> None:
    """Print the data from the files of single wavefronts, of wavefront states and of the occupancy."""
    timeline = trace.timeline
    if timeline.wavefronts:
        stalled = [one for one in trace.by_stall() if one.stall][:top]
        rows: list[list[Any]] = [
            [
                one.text or f"line {one.line}",
                one.stall,
                f"{100 * one.share:.1f} %",
                one.issues,
                one.idle,
                _short(one.source),
            ]
            for one in stalled
        ]
        print("\n" + rows_table(["most stalled", "stall cycles", "share", "issued", "idle cycles", "source"], rows))
        waves: list[list[Any]] = [
            [one.file.removesuffix(".json"), one.begin, one.cycles, one.issued, one.latency, one.stall, one.idle]
            for one in timeline.wavefronts[:top]
        ]
        heads = ["wavefront", "begin", "cycles", "issued", "in instructions", "stall", "idle"]
        print("\n" + rows_table(heads, waves))
        listed = f" of {trace.wavefronts:,} listed" if trace.wavefronts else ""
        print(f"{len(timeline.wavefronts):,}{listed} wavefronts have their own file")
    if timeline.states:
        shares = ", ".join(
            f"{one.name} {one.cycles:,}" if one.share is None else f"{one.name} {100 * one.share:.1f} %"
            for one in timeline.states
        )
        print(f"\nstates     {shares} of {sum(one.cycles for one in timeline.states):,} wavefront cycles")
    for one in timeline.occupancy:
        if one.cu is None and one.mean is not None:
            units = [unit for unit in timeline.occupancy if unit.shader_engine == one.shader_engine and unit is not one]
            most = max(unit.most for unit in units)
            print(
                f"occupancy  shader engine {one.shader_engine}: mean {one.mean:.1f}, at most {one.most} wavefronts; "
                f"a CU of {len(units)}: mean {one.mean / len(units):.1f}, at most {most}"
            )


def _rows(costs: list[LineCost]) -> list[list[Any]]:
    return [
        [
            _short(cost.name),
            cost.latency,
            f"{100 * cost.share:.1f} %",
            cost.hits,
            cost.latency / cost.hits if cost.hits else None,
        ]
        for cost in costs
    ]


def _short(source: str | None) -> str:
    return source.replace("\\", "/").rsplit("/", 1)[-1] if source else "?"
