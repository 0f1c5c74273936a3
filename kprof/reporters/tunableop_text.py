"""Text of ``kprof ingest tunableop``: the slowest GEMMs, and the time lost without tuning."""

from collections.abc import Sequence
from typing import Any

from kprof.inputs.tunableop import TunableOpResults, TuningGain, suspects
from kprof.output.quantities import plural
from kprof.output.tables import rows_table


def show(results: TunableOpResults, gains: Sequence[TuningGain], top: int) -> None:
    """Print the slowest problems, the time lost without tuning, and problems that look untuned."""
    print("  ".join(f"{name} {value}" for name, value in results.validators.items()))
    best = results.best()
    libraries: dict[str, int] = {}
    for one in best.values():
        libraries[one.library] = libraries.get(one.library, 0) + 1
    won = ", ".join(f"{name} {count:,}" for name, count in sorted(libraries.items(), key=lambda item: -item[1]))
    print(f"\n{plural(len(best), 'problem')}; fastest: {won}\n")
    slowest = sorted(best.values(), key=lambda one: -(one.milliseconds or 0.0))[:top]
    rows: list[list[Any]] = [[one.problem, one.dtype, one.solution, one.milliseconds, one.tflops] for one in slowest]
    print(rows_table(["problem (layout_M_N_K)", "type", "solution", "ms", "TFLOP/s"], rows))
    lost = _with_lost_time(gains)
    if lost:
        print("\nLost without tuning:")
        rows = [
            [gain.best.problem, gain.default.milliseconds, gain.best.milliseconds, gain.lost_milliseconds]
            for gain in lost[:top]
        ]
        print(rows_table(["problem", "default ms", "best ms", "lost ms"], rows))
    doubtful = suspects(results)
    for suspect in doubtful[:top]:
        print(
            f"estimate  {suspect.solution.problem} still uses the default solution "
            f"({suspect.solution.milliseconds:.4g} ms); "
            f"at the rate of {suspect.neighbour.problem} it would take {suspect.expected_milliseconds:.4g} ms: "
            "tune it again"
        )
    for issue in results.issues[:5]:
        print(f"warning  {issue}")
    print()


def verdict(results: TunableOpResults, gains: Sequence[TuningGain]) -> str:
    """Return a line with the number of problems and, if known, the gain from tuning."""
    lost = _with_lost_time(gains)
    count = plural(len(results.best()), "GEMM")
    untuned = sum(one.is_default for one in results.best().values())
    kept = f", {untuned} of them best with the default solution" if untuned else ""
    if not gains or not lost:
        return f"{count}{kept}; the file has no default times: --untuned FILE shows the gain of tuning"
    total = sum(gain.lost_milliseconds for gain in lost)
    return (
        f"{count}{kept}; without tuning {total:.4g} ms lost over the {len(gains)} problems with both times, one "
        "call each"
    )


def _with_lost_time(gains: Sequence[TuningGain]) -> list[TuningGain]:
    return [gain for gain in gains if gain.lost_milliseconds > 0]
