"""Detect counter values that are not valid measurements."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from kprof.inputs.completeness import NEVER_ZERO, NONZERO_COUNTERS, ZERO_CURE
from kprof.inputs.rocprof.frames import length
from kprof.inputs.rocprof.model import Columns, FileTables, ProfileIssue

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 0.02
"""Maximum relative difference between a counter's values in several passes of a dispatch that is not reported."""

_SUPERSET_AND_SUBSET = (
    ("TCC_EA_RDREQ_sum", "TCC_EA_RDREQ_32B_sum"),
    ("TCC_EA0_RDREQ_sum", "TCC_EA0_RDREQ_32B_sum"),
    ("TCC_EA_WRREQ_sum", "TCC_EA_WRREQ_64B_sum"),
    ("TCC_EA0_WRREQ_sum", "TCC_EA0_WRREQ_64B_sum"),
    ("L2CacheHit", "TCC_HIT_sum"),
    ("L2CacheHit", "TCC_EA_RDREQ_32B_sum"),
    ("L2CacheHit", "TCC_EA0_RDREQ_32B_sum"),
    ("FETCH_SIZE", "TCC_EA0_RDREQ_sum"),
    ("FETCH_SIZE", "TCC_EA_RDREQ_sum"),
    ("SQ_INSTS_VALU", "SQ_INSTS_VALU_ADD_F32"),
    ("SQ_INSTS_VALU", "SQ_INSTS_VALU_INT32"),
    ("SQ_WAVES", "SQ_WAVE_CYCLES"),
    ("GRBM_GUI_ACTIVE", "SQ_BUSY_CYCLES"),
    ("GRBM_GUI_ACTIVE", "SQ_WAVES"),
    ("MfmaUtil", "SQ_INSTS_VALU_MFMA_MOPS_F16"),
    ("MfmaUtil", "SQ_INSTS_VALU_MFMA_MOPS_BF16"),
    ("MfmaUtil", "SQ_INSTS_MFMA"),
)
"""Pairs of counters of which the first must be nonzero if the second is nonzero.

The first counts a superset of the second's events, or those events imply its own. If the first reads 0 nevertheless,
the GPU or the profiler does not support it.
"""

_PERCENT = {
    "GPUBusy", "GPU_UTIL", "GpuUtil", "MfmaUtil", "OccupancyPercent", "VALUBusy", "SALUBusy", "VALUUtilization",
    "LDSBankConflict", "L2CacheHit", "MemUnitBusy", "MemUnitStalled", "WriteUnitStalled", "ALUStalledByLDS",
    "FetchUnitBusy", "LdsUtil", "SIMD_UTILIZATION",
}  # fmt: skip


def check(part: FileTables) -> None:
    """Report problems with the counters of one file."""
    counters = part.tables.get("counters")
    if not counters or not length(counters):
        return
    if not part.distinct:
        _repeated(counters, part)
    _check_percentages(counters, part)
    _unsupported(counters, part)
    _never_zero(counters, part)


def _repeated(counters: Columns, part: FileTables) -> None:
    if _in_order(counters):
        return
    repeats = _count_repeats([counters["dispatch"], counters["counter"].codes, counters["instance"], counters["pass"]])
    if repeats:
        part.complain(
            "duplicate-counters",
            "warning",
            f"{repeats:,} values repeat a counter of the same dispatch; all are kept, so a sum counts them twice",
            count=repeats,
        )


def _count_repeats(columns: Sequence[Any]) -> int:
    """Return how many rows of integer columns of equal, positive length repeat an earlier row."""
    import numpy as np

    numbers = [np.asarray(column, dtype=np.int64) for column in columns]
    ranges = [(int(values.min()), int(values.max())) for values in numbers]
    if math.prod(most - least + 1 for least, most in ranges) > np.iinfo(np.int64).max:
        return len(numbers[0]) - len(np.unique(np.stack(numbers, axis=1), axis=0))
    # Each row is encoded as one number, because a set of tuples would cost more than reading the file.
    key = np.zeros(len(numbers[0]), dtype=np.int64)
    for values, (least, most) in zip(numbers, ranges, strict=True):
        key = key * (most - least + 1) + (values - least)
    if len(key) < 2 or (key[1:] > key[:-1]).all():
        return 0
    ordered = np.sort(key)
    return int((ordered[1:] == ordered[:-1]).sum())


def _in_order(counters: Columns) -> bool:
    """Return whether dispatches ascend, and counters ascend within each dispatch; if so, there are no duplicates."""
    import numpy as np

    dispatch, code = np.asarray(counters["dispatch"]), counters["counter"].codes
    further = dispatch[1:] > dispatch[:-1]
    if not (further | (code[1:] > code[:-1])).all():
        return False
    return bool((further | (dispatch[1:] == dispatch[:-1])).all())


def _check_percentages(counters: Columns, part: FileTables) -> None:
    import numpy as np

    words, codes, values = counters["counter"].categories, counters["counter"].codes, np.asarray(counters["value"])
    for name, rows in _percentages_above_100(words, codes, values):
        part.complain("over-100-percent", "warning", f"{name} is a percentage and reads up to "
                      f"{values[rows].max():.4g}", count=len(rows))  # fmt: skip


def _percentages_above_100(words: Any, codes: Any, values: Any) -> Iterator[tuple[str, Any]]:
    """Yield the name of each percentage counter with values above 100, and the affected rows."""
    import numpy as np

    percentages = [place for place, word in enumerate(words) if word in _PERCENT]
    if not percentages:
        return
    over = np.isin(codes, percentages) & (values > 100.0)
    for code in percentages:
        rows = np.flatnonzero(over & (codes == code))
        if len(rows):
            yield str(words[code]), rows


def _unsupported(counters: Columns, part: FileTables) -> None:
    import numpy as np

    words, codes = list(counters["counter"].categories), np.asarray(counters["counter"].codes)
    value, dispatch = np.asarray(counters["value"]), np.asarray(counters["dispatch"])
    reported = set()
    for whole, fraction, busy in _empty(words, codes, value, dispatch):
        if whole not in reported:
            reported.add(whole)
            part.complain("unsupported-counter", "warning", f"{whole} reads 0 in {len(busy):,} dispatches where "
                          f"{fraction} does not: the counter is not supported there, so its 0 is not a measurement",
                          count=len(busy))  # fmt: skip


def _never_zero(counters: Columns, part: FileTables) -> None:
    import numpy as np

    words, codes = list(map(str, counters["counter"].categories)), np.asarray(counters["counter"].codes)
    value, dispatch = np.asarray(counters["value"]), np.asarray(counters["dispatch"])
    for name, rows in _always_zero(words, codes, value):
        part.issues.append(
            ProfileIssue(
                "zero-counter",
                "warning",
                f"{name} {NEVER_ZERO}",
                part.source.path,
                count=len(np.unique(dispatch[rows])),
                unknown=(name,),
                cure=ZERO_CURE,
            )
        )


def _always_zero(words: list[str], codes: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield each counter that every kernel increments but that is 0 in every dispatch, and its rows."""
    import numpy as np

    for place, word in enumerate(words):
        if word in NONZERO_COUNTERS:
            rows = np.flatnonzero(codes == place)
            if len(rows) and not value[rows].any():
                yield word, rows


def _empty(words: list[str], codes: Any, value: Any, dispatch: Any) -> Iterator[tuple[str, str, Any]]:
    """Yield each counter that wrongly reads 0, a counter that contradicts it, and the affected dispatches."""
    import numpy as np

    for whole, fraction in _SUPERSET_AND_SUBSET:
        if whole not in words or fraction not in words:
            continue
        zero = dispatch[(codes == words.index(whole)) & (value == 0)]
        if not len(zero):
            continue
        busy = np.intersect1d(zero, dispatch[(codes == words.index(fraction)) & (value > 0)])
        if len(busy):
            yield whole, fraction, busy


def untrusted(counters: "pd.DataFrame") -> Iterator[tuple[str, str, Any]]:
    """Yield name and reason of each counter with invalid values, and the affected rows of the dispatches table.

    Args:
        counters: counters table, after joining files about the same dispatches.
    """
    import numpy as np
    import pandas as pd

    if not len(counters):
        return
    names = pd.Categorical(counters["counter"].astype(object))
    words, codes = list(map(str, names.categories)), np.asarray(names.codes)
    value, dispatch = np.asarray(counters["value"]), np.asarray(counters["dispatch"])
    for whole, fraction, busy in _empty(words, codes, value, dispatch):
        yield whole, f"{whole} reads 0 although {fraction} does not: 0 is not a measurement", busy
    for name, rows in _always_zero(words, codes, value):
        yield name, f"{name} {NEVER_ZERO}: {ZERO_CURE}", np.unique(dispatch[rows])
    for name, rows in _percentages_above_100(words, codes, value):
        yield name, f"{name} is a percentage and reads {value[rows].max():.4g}", np.unique(dispatch[rows])


def compare_passes(parts: list[FileTables]) -> list[ProfileIssue]:
    """Report counters whose values for one dispatch differ between files or passes.

    Call this function after the counters of files about the same dispatches refer to the same dispatch numbers.
    """
    import pandas as pd

    members_of: dict[int, list[FileTables]] = {}
    for place, part in enumerate(parts):
        counters = part.tables.get("counters")
        if counters and length(counters):
            members_of.setdefault(place if part.source.same_as is None else part.source.same_as, []).append(part)
    issues: list[ProfileIssue] = []
    for members in members_of.values():
        tables = [part.tables["counters"] for part in members]
        if len(tables) == 1 and not any((t["pass"] > 0).any() or (t["instance"] >= 0).any() for t in tables):
            continue
        pieces = [
            pd.DataFrame({name: table[name] for name in ("dispatch", "instance", "value")}).assign(
                counter=table["counter"].astype(object)
            )
            for table in tables
        ]
        whole = pieces[0] if len(pieces) == 1 else pd.concat(pieces)
        path = members[0].source.folder or members[0].source.path
        issues += _spread(whole, path) + _sums(whole, path)
    return issues


def _spread(whole: "pd.DataFrame", path: str) -> list[ProfileIssue]:
    repeated = whole[whole.duplicated(["dispatch", "counter", "instance"], keep=False)]
    if not len(repeated):
        return []
    spread = repeated.groupby(["counter", "dispatch", "instance"], observed=True)["value"].agg(["min", "max"])
    spread["share"] = (spread["max"] - spread["min"]) / spread["max"].abs().clip(lower=1)
    issues = []
    for name, rows in spread[spread["share"] > TOLERANCE].groupby("counter", observed=True):
        worst = rows.loc[rows["share"].idxmax()]
        issues.append(
            ProfileIssue(
                "passes-disagree",
                "warning",
                f"{name} differs by up to {worst['share']:.0%} between passes of the same dispatch "
                f"({worst['min']:,.0f} and {worst['max']:,.0f}); all values are kept, none is averaged",
                path,
                count=len(rows),
            )
        )
    return issues


def _sums(whole: "pd.DataFrame", path: str) -> list[ProfileIssue]:
    channels = whole[whole["instance"] >= 0]
    if not len(channels):
        return []
    issues = []
    totals = (
        channels.drop_duplicates(["dispatch", "counter", "instance"])
        .groupby(["counter", "dispatch"], observed=True)["value"]
        .sum()
    )
    stated = whole[(whole["instance"] < 0) & whole["counter"].str.endswith("_sum")]
    for name, rows in stated.groupby("counter", observed=True):
        base = str(name).removesuffix("_sum")
        if base not in totals.index.get_level_values(0):
            continue
        pairs = rows.set_index("dispatch")["value"].to_frame("stated").join(totals[base].rename("summed"), how="inner")
        differs = pairs[pairs["stated"] != pairs["summed"]]
        if len(differs):
            one = differs.iloc[0]
            words = (
                f"{name} is {one['stated']:,.0f} and the sum of {base}[...] is {one['summed']:,.0f}: they were "
                "counted in different passes"
            )
            issues.append(ProfileIssue("passes-disagree", "note", words, path, count=len(differs)))
    return issues
