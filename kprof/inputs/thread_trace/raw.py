"""Raw thread traces: what rocprofv3 writes before its decoder has read it."""

from pathlib import Path

from kprof.errors import InputError

_HINT = (
    "its packets are not read here: let rocprofv3 --att decode them (--att-library-path names the folder of "
    "rocprof-trace-decoder), and give the folder ui_output_agent_*_dispatch_* that it writes"
)


def raw_files(place: Path) -> list[Path]:
    """The raw traces at or below a path, by name alone: nothing in them is looked at."""
    if place.is_dir():
        return sorted(path for path in place.rglob("*.att") if path.is_file())
    return [place] if place.suffix == ".att" and place.is_file() else []


def not_decoded(path: str, found: list[Path]) -> InputError:
    """The error for a path where only raw traces are."""
    if Path(path).is_dir():
        count = "one raw thread trace" if len(found) == 1 else f"{len(found):,} raw thread traces"
        return InputError(f"{count} (.att), none decoded", path=path, hint=_HINT)
    return InputError("a raw thread trace (.att), not decoded", path=path, hint=_HINT)
