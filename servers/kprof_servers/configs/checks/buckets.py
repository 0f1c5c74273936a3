"""KP721 missing-fallback, KP722 bucket-never-reached and KP723 bucket-twice."""

from collections.abc import Iterable, Sequence
from typing import ClassVar

from kprof.findings import Finding, Location, Severity
from kprof.tuning.formats.aiter import BOUNDS
from kprof_servers.configs.checks.check import ConfigCheck, Context
from kprof_servers.configs.formats.triton_config import ALONE
from kprof_servers.configs.model import Bucket, ConfigFile

_SIZES = ("small_M", "medium_M", "large_M")


def gemm(file: ConfigFile) -> bool:
    """Return whether AITER's GEMM loader reads the file. kprof does not know the search order of other loaders."""
    return file.vocabulary == "aiter-gemm" and file.format.startswith("AITER")


def chosen(names: Iterable[str], rows: int) -> str | None:
    """Return the bucket that AITER uses for ``rows``: smallest matching M_LEQ, else largest M_GEQ, else ``any``."""
    known = set(names)
    for bound in BOUNDS:
        if rows <= bound and f"M_LEQ_{bound}" in known:
            return f"M_LEQ_{bound}"
    for bound in reversed(BOUNDS):
        if rows >= bound and f"M_GEQ_{bound}" in known:
            return f"M_GEQ_{bound}"
    return "any" if "any" in known else None


def _probes() -> list[int]:
    return sorted({max(0, bound + step) for bound in BOUNDS for step in (-1, 0, 1)} | {0, 1 << 20})


class MissingFallback(ConfigCheck):
    """Some problem sizes have no bucket, because the file has no bucket for all remaining sizes.

    ## What it does
    For AITER files: looks up every number of rows as the loader does, and names the first one without a bucket. A file
    with one of the buckets `small_M`, `medium_M` and `large_M` must have all three. vLLM uses the bucket with the
    nearest number of rows and needs no fallback.

    ## Why it matters
    The loader raises `KeyError` at the first launch with such a size.

    ## What to try
    Add the bucket `any`.
    """

    id: ClassVar[str] = "KP721"
    name: ClassVar[str] = "missing-fallback"
    severity: ClassVar[Severity] = Severity.ERROR

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        if not file.format.startswith("AITER") or file.broken is not None:
            return
        for path, buckets in file.levels().items():
            names = [bucket.path[-1] for bucket in buckets]
            where = f" in {'/'.join(path)}" if path else ""
            if any(bucket.bound for bucket in buckets) and "any" not in names:
                first = next((rows for rows in _probes() if chosen(names, rows) is None), None)
                if first is not None:
                    text = f"no bucket 'any'{where}: the loader finds no bucket for M = {first:,}"
                    yield self.finding(file, buckets[-1].place, text, rows=first)
            left_out = [name for name in _SIZES if name not in names]
            if 0 < len(left_out) < len(_SIZES):
                yield self.finding(file, buckets[-1].place, f"no bucket {' and '.join(left_out)}{where}")


class NeverReached(ConfigCheck):
    """A bucket is never used, because other buckets take precedence or the loader does not look for its name.

    ## What it does
    For AITER GEMM files: looks up every number of rows as the loader does, with its 13 bounds, and names the buckets
    that are never chosen. For example, `M_GEQ_64` is never chosen next to `M_LEQ_64`, `M_LEQ_128` and `M_GEQ_256`.
    `M_LEQ_31` is only chosen if the loader's caller passes its own bounds.

    ## Why it matters
    The values that were tuned for these sizes are not used.

    ## What to try
    Use a bound that the loader knows (1, 4, 8 and further powers of two up to 8192), or remove the bucket.
    """

    id: ClassVar[str] = "KP722"
    name: ClassVar[str] = "bucket-never-reached"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        if not gemm(file):
            return
        buckets = [bucket for bucket in file.buckets if len(bucket.path) == 1]
        names = [bucket.name for bucket in buckets]
        if not any(bucket.bound for bucket in buckets):
            return
        reached = {rows: chosen(names, rows) for rows in _probes()}
        for bucket in buckets:
            if bucket.name in reached.values():
                continue
            bound = bucket.bound
            if bound is not None and bound[1] not in BOUNDS:
                instead = chosen(names, bound[1])
                text = (
                    f"{bucket.name} is not among the bounds that the loader looks for; M = {bound[1]:,} gets {instead}"
                )
            elif bound is not None:
                text = f"{bucket.name} is never reached: M = {bound[1]:,} gets {chosen(names, bound[1])}"
            elif bucket.name == "any":
                continue
            else:
                text = f"{bucket.name} is not a bucket name that the loader looks for"
            yield self.finding(file, bucket.place, text, bucket=bucket.name)


class BucketTwice(ConfigCheck):
    """A bucket, or a configuration for the autotuner, occurs twice.

    ## What it does
    Reports vLLM buckets whose keys are the same number, buckets that differ only in case or blanks, and equal
    `triton.Config` in one list.

    ## Why it matters
    Only one of two equal buckets is used. The autotuner compiles and times an equal configuration twice.

    ## What to try
    Remove one of them.
    """

    id: ClassVar[str] = "KP723"
    name: ClassVar[str] = "bucket-twice"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        for path, buckets in file.levels().items():
            if path != (ALONE,):
                yield from self._level(file, buckets)

    def _level(self, file: ConfigFile, buckets: Sequence[Bucket]) -> Iterable[Finding]:
        seen: dict[str, Bucket] = {}
        for bucket in buckets:
            key = _same_knobs(bucket) if file.format == "triton.Config" else _same_name(bucket)
            first = seen.setdefault(key, bucket)
            if first is not bucket:
                place = Location(file=file.path, line=first.place.line, column=first.place.column)
                text = f"{bucket.name} is the same as {first.name}"
                yield self.finding(file, bucket.place, text, related=[place], bucket=bucket.name)


def _same_name(bucket: Bucket) -> str:
    name = bucket.path[-1].strip().lower()
    if name.isdecimal():
        return name.lstrip("0") or "0"
    bound = bucket.bound
    return f"{bound[0]} {bound[1]}" if bound else name


def _same_knobs(bucket: Bucket) -> str:
    """Return the bucket's settings as text for comparison; the text is unique if a value is not a literal."""
    values = bucket.values()
    if any(not isinstance(value, int | float | str | None) for value in values.values()):
        return f"{bucket.path} {bucket.place}"
    return repr(sorted(values.items()))
