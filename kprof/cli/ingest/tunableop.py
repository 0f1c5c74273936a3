"""``kprof ingest tunableop``: PyTorch TunableOp result files."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from kprof.cli.common import JsonOption
from kprof.output.writing import write_output

if TYPE_CHECKING:
    from kprof.inputs.tunableop import Gain, Results

HELP = "PyTorch TunableOp result files: best and default solution of each GEMM."


def command(
    path: Annotated[
        str, typer.Argument(metavar="PATH", help="tunableop_results*.csv, or a folder with one such file.")
    ],
    untuned: Annotated[
        str | None,
        typer.Option("--untuned", metavar="FILE", help="A result file with the Default times of the same problems."),
    ] = None,
    top: Annotated[int, typer.Option("--top", "-n", help="Problems to show.", min=1)] = 15,
    json: JsonOption = None,
) -> None:
    """Show the slowest GEMMs, which library won each, and the time lost where tuning was not used.

    A result file has the time of the winner only. What tuning gains is therefore told for problems that the file has
    twice, or against --untuned.

    Example:  kprof ingest tunableop tunableop_results0.csv
    """
    from kprof.inputs import tunableop

    results = tunableop.read(path)
    other = tunableop.read(untuned) if untuned else None
    gains = tunableop.gains(results, other)
    if json:
        write_output(json, _document(results, gains))
    if json == "-":
        return
    _show(results, gains, top)


def _document(results: "Results", gains: "list[Gain]") -> str:
    from dataclasses import asdict

    import msgspec

    from kprof.inputs import tunableop

    document = {
        "schema": "kprof.tunableop/1",
        "path": results.path,
        "validators": results.validators,
        "solutions": [asdict(one) | {"tflops": one.tflops} for one in results.best().values()],
        "gains": [
            {"default": asdict(gain.default), "best": asdict(gain.best), "lost_milliseconds": gain.lost_milliseconds}
            for gain in gains
        ],
        "suspects": [asdict(suspect) for suspect in tunableop.suspects(results)],
        "issues": list(results.issues),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def _show(results: "Results", gains: "list[Gain]", top: int) -> None:
    from kprof.inputs.tunableop import suspects
    from kprof.output.tables import rows_table
    from kprof.reporters._console_text import plural

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
    lost = [gain for gain in gains if gain.lost_milliseconds > 0]
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
            f"estimate  {suspect.solution.problem} was left at the default ({suspect.solution.milliseconds:.4g} ms); "
            f"at the rate of {suspect.neighbour.problem} it would take {suspect.expected_milliseconds:.4g} ms: "
            "tune it again"
        )
    for issue in results.issues[:5]:
        print(f"warning  {issue}")
    print()
    print(_verdict(results, gains, lost))


def _verdict(results: "Results", gains: "list[Gain]", lost: "list[Gain]") -> str:
    from kprof.reporters._console_text import plural

    count = plural(len(results.best()), "GEMM")
    untuned = sum(one.is_default for one in results.best().values())
    kept = f", {untuned} of them best with the default solution" if untuned else ""
    if not gains or not lost:
        return f"{count}{kept}; default times are not in the file: --untuned tells what tuning gains"
    total = sum(gain.lost_milliseconds for gain in lost)
    return (
        f"{count}{kept}; without tuning {total:.4g} ms lost over the {len(gains)} that have both times, one call each"
    )
