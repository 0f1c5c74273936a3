"""Write docs/validation/samples_counters.md: the records that were read from every published file, and the issues.

Run it where the published measurement files lie next to the checkout: ``python validation/counter_samples.py``.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = ROOT.parent / "shared/samples"
OUTPUT = ROOT / "docs/validation/samples_counters.md"
FOLDERS = ("rocprof_v1", "rocprof_v2", "rocprof_v3", "rocpd", "rocprof_compute", "rocminfo")

HEAD = """# Published measurement files and what kprof reads from them

Each file on its own; files of a workload are joined when its folder is read. `python validation/counter_samples.py`
writes this page. That calls, durations and counter sums equal those of `sqlite3`, `csv` and `json` is checked by
`tests/inputs/rocprof/test_samples.py`.

| file | tool, version | format | records | tables | reported |
|---|---|---|---:|---|---|
"""

TAIL = """
Beside the thread trace's listings, `filenames.json` gives the number and the lifetimes of the wavefronts. Records of a
wavefront's own file are instructions issued, of `occupancy.json` wavefronts begun. 4 of the 56 wavefronts listed are
published as files: their issues times 14 are the listing's hits; their latency times 14 is 4.2 % less than the
listing's, as they lived 3.7 % shorter than the mean. The states of all 56 add up to their lifetimes
(`tests/inputs/thread_trace/test_timeline.py`).
"""


def row(path: Path) -> str:
    """Return a file's line of the table."""
    from kprof.errors import KprofError
    from kprof.inputs import rocprof

    name = str(path.relative_to(SAMPLES))
    try:
        data = rocprof.read(path)
    except KprofError as error:
        return f"| {name} | | | | | {error.message} |"
    source = data.sources[0]
    tables = ", ".join(f"{table} {len(data.table(table)):,}" for table in data.names())
    kinds = Counter(f"{issue.severity}: {issue.kind}" for issue in data.issues)
    reported = ", ".join(kind if count == 1 else f"{kind} ({count})" for kind, count in kinds.items())
    tool = f"{source.tool}{', ' + source.version if source.version else ''}"
    return f"| {name} | {tool} | {source.format} | {source.rows:,} | {tables} | {reported} |"


def timeline(folder: Path) -> list[str]:
    """Describe single wavefronts, states and occupancy in the files next to a thread trace."""
    from kprof.inputs.thread_trace import companion_files, wave_json

    name = folder.relative_to(SAMPLES)
    lines = []
    for path in sorted(folder.glob(wave_json.PATTERN)):
        wave, odd = wave_json.read(path)
        found = f"cycles {wave.cycles:,}, latency {wave.latency:,}, stall {wave.stall:,}, idle {wave.idle:,}"
        lines.append(f"| {name / path.name} | rocprofv3 | wavefront | {wave.issued:,} | {found} | {'; '.join(odd)} |")
    for path in sorted(folder.glob(companion_files.STATES_PATTERN)):
        state, odd = companion_files.read_states(path)
        found = f"{state.cycles:,} wavefront cycles in {state.name}, at most {state.most} wavefronts"
        lines.append(f"| {name / path.name} | rocprofv3 | wavefront states | | {found} | {'; '.join(odd)} |")
    if (folder / companion_files.RESIDENT).is_file():
        occupancy, odd = companion_files.read_occupancy(folder / companion_files.RESIDENT)
        engines = [one for one in occupancy if one.cu is None]
        found = ", ".join(f"shader engine {one.shader_engine} mean {one.mean or 0:.1f}" for one in engines)
        begun = sum(one.begun for one in engines)
        place = name / companion_files.RESIDENT
        lines.append(f"| {place} | rocprofv3 | occupancy | {begun:,} | {found} wavefronts | {'; '.join(odd)} |")
    return lines


def others() -> list[str]:
    """Return lines for thread traces and TunableOp results."""
    from kprof.inputs import thread_trace, tunableop

    lines = []
    for path in thread_trace.find(SAMPLES / "att"):
        trace = thread_trace.read(path)
        name = path.relative_to(SAMPLES)
        lines.append(
            f"| {name} | rocprofv3 | {trace.format} | {len(trace.instructions):,} | hits {trace.hits:,}, latency "
            f"{trace.latency:,} cycles | {'; '.join(trace.issues)} |"
        )
        lines += timeline(path.parent) if trace.format == "code.json" else []
    for path in sorted((SAMPLES / "tunableop_gfx1151").iterdir()):
        results = tunableop.read(path)
        lines.append(
            f"| {path.relative_to(SAMPLES)} | PyTorch {results.validators.get('PT_VERSION', '')} | TunableOp | "
            f"{len(results.solutions):,} | {len(results.best()):,} problems | {'; '.join(results.issues)} |"
        )
    return lines


def main() -> int:
    """Write the page."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if not SAMPLES.is_dir():
        print("the published measurement files are not next to this checkout", file=sys.stderr)
        return 2
    lines = []
    skipped: list[str] = []
    for folder in FOLDERS:
        for path in sorted(p for p in (SAMPLES / folder).rglob("*") if p.is_file()):
            line = row(path)
            plain = ("| | | | | no known measurement format |", "| | | | | the file is empty |")
            if line.endswith(plain):
                skipped.append(f"{path.relative_to(SAMPLES)}{' (empty)' if 'empty' in line else ''}")
            else:
                lines.append(line)
    lines += others()
    tail = "\n\n## Files that are no measurements\n\nLogs, notes, run configurations and other tools' inputs, left out "
    tail += f"with a note when a folder is read:\n\n{chr(10).join('- ' + name for name in skipped)}\n"
    tail += TAIL
    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    OUTPUT.write_text(HEAD + "\n".join(lines) + tail, encoding="utf-8")
    print(f"wrote {OUTPUT.relative_to(ROOT)}: {len(lines)} files read, {len(skipped)} no measurements")
    return 0


if __name__ == "__main__":
    sys.exit(main())
