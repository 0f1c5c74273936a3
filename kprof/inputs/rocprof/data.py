"""The tables of all files that were read, after joining files about the same dispatches."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from kprof.inputs.rocprof import trust
from kprof.inputs.rocprof.frames import frame, kernels_frame, length
from kprof.inputs.rocprof.model import COLUMNS, Columns, FileTables, ProfileFile, ProfileIssue
from kprof.inputs.rocprof.plausible import drop_counters
from kprof.output.progress import step

if TYPE_CHECKING:
    import pandas as pd


class Data:
    """Tables of all files that were read, as pandas DataFrames; see :data:`COLUMNS`.

    The kernels of a database with millions of dispatches are available without loading it: its ``dispatches`` and
    ``counters`` are read on first use.
    """

    def __init__(self, parts: list[FileTables], issues: list[ProfileIssue]) -> None:
        """Store the parts and issues; create instances with :func:`kprof.inputs.rocprof.read`."""
        self._parts = parts
        self._own_issues = issues
        self._frames: dict[str, pd.DataFrame] = {}
        self._joined = False
        if not any(part.lazy for part in parts):
            self._join()

    @property
    def sources(self) -> list[ProfileFile]:
        """All files that were read, in order."""
        return [part.source for part in self._parts]

    @property
    def issues(self) -> list[ProfileIssue]:
        """All issues, the most severe first."""
        found = self._own_issues + [issue for part in self._parts for issue in part.issues]
        return sorted(found, key=lambda issue: ("error", "warning", "note").index(issue.severity))

    def _join(self) -> None:
        for part in self._parts:
            part.load()
        with step("joining the tables"):
            self._own_issues.extend(join(self._parts))
        self._joined = True

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table by name. If no file contains rows for it, return an empty table with the documented columns.

        Raises:
            KeyError: if there is no such table.
        """
        if name not in COLUMNS:
            raise KeyError(name)
        if name not in self._frames:
            if name == "kernels":
                self._frames[name] = kernels_frame(self._parts)
            else:
                if not self._joined and any(name in part.promised for part in self._parts):
                    self._join()
                self._frames[name] = frame(name, self._parts)
        return self._frames[name]

    @property
    def dispatches(self) -> "pd.DataFrame":
        """Table with one row per execution of a kernel."""
        return self.table("dispatches")

    @property
    def counters(self) -> "pd.DataFrame":
        """Table with one row per counter value."""
        return self.table("counters")

    @property
    def kernels(self) -> "pd.DataFrame":
        """Table with one row per source, agent and kernel."""
        return self.table("kernels")

    @property
    def agents(self) -> "pd.DataFrame":
        """Table of CPUs and GPUs."""
        return self.table("agents")

    @property
    def copies(self) -> "pd.DataFrame":
        """Table of memory copies."""
        return self.table("copies")

    @property
    def is_loaded(self) -> bool:
        """Whether all rows are in memory; accessing ``dispatches`` of a database loads them."""
        return self._joined

    def names(self) -> list[str]:
        """Return the names of the tables that have rows; ``kernels`` is one of them."""
        if not self._joined:
            self._join()
        found = {name for part in self._parts for name, columns in part.tables.items() if length(columns)}
        if "dispatches" in found:
            found.add("kernels")
        return [name for name in COLUMNS if name in found]


def join(parts: list[FileTables]) -> list[ProfileIssue]:
    """Join files about the same dispatches: make their counters refer to the dispatches of the first of these files.

    The files of a workload folder are repeated passes of one program, so they are joined by dispatch id and kernel.
    Other files are about the same dispatches only if all their start and end times are equal. ``parts``, the tables of
    each file, are changed in place.
    """
    issues: list[ProfileIssue] = []
    for part in parts:
        drop_counters(part)
        trust.check(part)
    _workloads(parts, issues)
    _same_times(parts)
    issues.extend(_row_sets(parts))
    _offset(parts)
    issues.extend(trust.compare_passes(parts))
    _compare_stats(parts)
    return issues


def _dispatch_columns(part: FileTables) -> Columns | None:
    columns = part.tables.get("dispatches")
    return columns if columns and length(columns) else None


def _order(part: FileTables) -> tuple[int, str]:
    name = part.source.path.rsplit("/", 1)[-1]
    preferred = ("timestamps.csv", "pmc_perf.csv")
    return (preferred.index(name) if name in preferred else len(preferred), name)


def _workloads(parts: list[FileTables], issues: list[ProfileIssue]) -> None:
    folders: dict[str, list[FileTables]] = defaultdict(list)
    for part in parts:
        if part.source.folder and _dispatch_columns(part) is not None:
            folders[part.source.folder].append(part)
    for folder, members in folders.items():
        if len(members) < 2:
            continue
        members.sort(key=_order)
        first = members[0]
        for other in members[1:]:
            _attach(other, first, parts.index(first), issues, folder)


def _attach(other: FileTables, first: FileTables, place: int, issues: list[ProfileIssue], folder: str) -> None:
    import pandas as pd

    theirs = pd.DataFrame({k: first.tables["dispatches"][k] for k in ("dispatch_id", "kernel_name")})
    mine = pd.DataFrame({k: other.tables["dispatches"][k] for k in ("dispatch_id", "kernel_name")})
    for table in (theirs, mine):
        table["kernel_name"] = table["kernel_name"].astype(object)
        table["again"] = table.groupby(["dispatch_id", "kernel_name"], dropna=False, observed=True).cumcount()
    theirs["row"] = range(len(theirs))
    matched = mine.merge(theirs, on=["dispatch_id", "kernel_name", "again"], how="left")["row"]
    same_order = len(mine) == len(theirs) and (mine["kernel_name"] == theirs["kernel_name"]).all()
    if matched.isna().any() and same_order:
        other.complain(
            "ids-differ",
            "note",
            f"dispatch ids differ from those of {first.source.path.rsplit('/', 1)[-1]}; "
            "the kernels have the same order and are joined by position",
        )
        matched = theirs["row"]
    if matched.isna().any():
        missing = int(matched.isna().sum())
        here, there = (one.source.path.rsplit("/", 1)[-1] for one in (other, first))
        words = (
            f"{missing:,} of {len(mine):,} dispatches of {here} are not in {there}: the program did not run the same "
            "kernels each time; the file is kept separate"
        )
        issues.append(ProfileIssue("other-dispatches", "warning", words, folder, count=missing))
        return
    _move(other, matched.to_numpy(dtype="int64"), place)
    _report_missing_times(first, other)


def _move(other: FileTables, rows: Any, place: int) -> None:
    """Make the counters of ``other`` refer to dispatch ``rows`` of the file at ``place``; remove its own dispatches."""
    counters = other.tables.get("counters")
    if counters:
        counters["dispatch"] = rows[counters["dispatch"]]
    del other.tables["dispatches"]
    other.describe(same_as=place)
    other.kernels = {}


def _report_missing_times(first: FileTables, other: FileTables) -> None:
    """Report that the first file has no times. The other file's times belong to another run and are not used."""
    if "duration_ns" not in first.tables["dispatches"]:
        first.complain(
            "no-times",
            "note",
            f"no times in this file; the times in {other.source.path.rsplit('/', 1)[-1]} "
            "belong to another pass and are not used",
        )


def _fingerprint(columns: Columns) -> tuple[int, int, int] | None:
    import numpy as np
    import pandas as pd

    if "start_ns" not in columns or "end_ns" not in columns:
        return None
    start = np.sort(np.asarray(pd.array(columns["start_ns"], dtype="Int64").fillna(0), dtype=np.int64))
    end = np.sort(np.asarray(pd.array(columns["end_ns"], dtype="Int64").fillna(0), dtype=np.int64))
    if len(start) < 2 or start[0] == start[-1]:
        return None
    return len(start), hash(start.tobytes()), hash(end.tobytes())


def _same_times(parts: list[FileTables]) -> None:
    import numpy as np
    import pandas as pd

    candidates = [(i, p) for i, p in enumerate(parts) if _dispatch_columns(p) is not None]
    if len(candidates) < 2:
        return
    # A trace contains more about a dispatch than a counter file, so other files are joined to it.
    candidates.sort(key=lambda entry: (entry[1].source.role != "trace", entry[0]))
    seen: dict[tuple[int, int, int], int] = {}
    for place, part in candidates:
        print_ = _fingerprint(part.tables["dispatches"])
        if print_ is None:
            continue
        first = seen.setdefault(print_, place)
        if first == place:
            continue
        orders = []
        for one in (parts[first], part):
            columns = one.tables["dispatches"]
            keys = [np.asarray(pd.array(columns[k], dtype="Int64").fillna(0), dtype=np.int64)
                    for k in ("end_ns", "start_ns")]  # fmt: skip
            orders.append(np.lexsort(keys))
        rows = np.empty(len(orders[0]), dtype=np.int64)
        rows[orders[1]] = orders[0]
        _move(part, rows, first)
        part.complain("same-dispatches", "note", f"the same dispatches as in {parts[first].source.path}: "
                      "counted once")  # fmt: skip


def _row_sets(parts: list[FileTables]) -> list[ProfileIssue]:
    sizes: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for part in parts:
        if part.source.folder and part.source.role in {"trace", "counters"}:
            sizes[part.source.folder][part.source.rows].append(part.source.path.rsplit("/", 1)[-1])
    issues = []
    for folder, found in sizes.items():
        if len(found) > 1 and not any("long" in p.source.format for p in parts if p.source.folder == folder):
            words = "; ".join(f"{n:,} in {', '.join(names[:3])}" for n, names in sorted(found.items()))
            issues.append(ProfileIssue("row-sets-differ", "warning", f"files of one workload have different numbers of "
                                f"dispatches: {words}", folder))  # fmt: skip
    return issues


def _offset(parts: list[FileTables]) -> None:
    """Convert dispatch row numbers within each file's table to row numbers in the table of all files."""
    starts: dict[int, int] = {}
    total = 0
    for place, part in enumerate(parts):
        if _dispatch_columns(part) is not None:
            starts[place] = total
            total += length(part.tables["dispatches"])
    for place, part in enumerate(parts):
        counters = part.tables.get("counters")
        first = place if part.source.same_as is None else part.source.same_as
        if counters and starts.get(first):
            counters["dispatch"] = counters["dispatch"] + starts[first]


def _compare_stats(parts: list[FileTables]) -> None:
    """Compare each stats file with the trace in its folder, and report totals that differ from the trace's sums."""
    import pandas as pd

    for part in parts:
        stats = part.tables.get("stats")
        if not stats or "calls" not in stats:
            continue
        folder = part.source.path.rsplit("/", 1)[0]
        for trace in parts:
            if (
                _dispatch_columns(trace) is None
                or trace.source.role != "trace"
                or trace.source.path.rsplit("/", 1)[0] != folder
            ):
                continue
            ours = kernels_frame([trace]).groupby("kernel_name", observed=True)[["calls", "total_ns"]].sum()
            theirs = pd.DataFrame({"name": stats["kernel_name"].astype(object), "calls": stats["calls"],
                                   "total_ns": stats["total_ns"]}).groupby("name", observed=True).sum()  # fmt: skip
            both = theirs.join(ours.add_suffix("_trace"), how="inner")
            differs = both[(both["calls"] != both["calls_trace"]) | (both["total_ns"] != both["total_ns_trace"])]
            if len(differs):
                part.complain("stats-disagree", "warning", f"{len(differs):,} kernels have other calls or times than "
                              f"in {trace.source.path.rsplit('/', 1)[-1]}", count=len(differs))  # fmt: skip
