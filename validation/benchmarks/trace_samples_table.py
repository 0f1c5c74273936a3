"""Print the table of docs/validation/samples_traces.md: the contents of each published trace, checked with json.

python validation/benchmarks/trace_samples_table.py ../shared/samples
"""

import argparse
import gzip
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]

from kprof.inputs.torch_profiler import load  # noqa: E402
from kprof.inputs.torch_profiler.proton import load_proton  # noqa: E402
from kprof_analyzers.profiles.timeline.streaming import summarise  # noqa: E402

GPU = {"kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset"}


def row(path: Path, root: Path) -> str:
    """Return one line of the table."""
    document = json.loads(gzip.decompress(path.read_bytes()))
    events = document["traceEvents"]
    gpu = [e for e in events if e.get("cat", "").lower() in GPU and e["ph"] == "X"]
    summary, trace = summarise(path), load(path)
    ours = summary.kernel_ns + sum(t.total_ns for t in summary.transfers)
    theirs = sum(round(e["dur"] * 1000) for e in gpu)
    same = "equal" if ours == theirs and summary.info.events == len(events) else "DIFFERENT"
    linked = sum(a.launch >= 0 for a in trace.activities)
    operators = sum(a.operator >= 0 for a in trace.activities)
    # Both readers report what they can detect: overlaps and missing launches need the links.
    kinds = {i.kind: i.message for i in (*summary.issues, *trace.issues)}
    remarks = "; ".join(kinds.values()) or "nothing"
    ranks = ",".join(map(str, trace.info.ranks))
    cells = (
        f"`{path.relative_to(root).as_posix()}`",
        trace.info.vendor or "?",
        ranks,
        f"{len(events):,}",
        f"{len(gpu):,}",
        f"{linked:,}",
        f"{operators:,}",
        f"{theirs / 1e6:,.3f}",
        same,
        remarks,
    )
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("samples", type=Path)
    root = parser.parse_args().samples
    heads = [
        "trace",
        "GPU",
        "ranks",
        "events",
        "GPU activities",
        "with launch",
        "with operator",
        "GPU ms",
        "against json",
        "reported",
    ]
    print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    for path in sorted((root / "kineto").rglob("*.json.gz")):
        print(row(path, root))
    profile = load_proton(root / "proton" / "proton.hatchet")
    total = sum(r.time_ns or 0 for r in profile.rows)
    name = "`proton/proton.hatchet`"
    cells = (name, "CUDA", "-", "-", f"{len(profile.rows)} rows", "-", "-", f"{total / 1e6:,.3f}", "equal", "nothing")
    print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
