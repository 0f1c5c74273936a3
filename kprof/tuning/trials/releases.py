"""Compare a kernel's time and spills between releases of Triton that are installed on this machine.

``kprof analyze --triton`` and ``kprof diff --triton`` keep the releases that they installed. The nearest older and the
nearest newer release compile the kernel again, each in its own process. Nothing is downloaded for it.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec import UNSET

from kprof.cache import location
from kprof.cache.entries import CacheSection
from kprof.cache.own import derived_key
from kprof.compiler import installations
from kprof.compiler.versions import installed
from kprof.document import KernelReport, OtherRelease
from kprof.errors import KprofError
from kprof.options.groups import CompileOptions
from kprof.output.progress import step

VARIABLE = "KPROF_NAMED_TRITON"
"""Environment variable of a process that runs an explicitly named Triton; such a process must not compare with other
releases."""

_KEPT = CacheSection("releases")


def neighbours() -> list[str]:
    """Return the nearest older and the nearest newer release that are installed on this machine.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    if os.environ.get(VARIABLE) or location.root() is None:
        return []
    known = {tuple(int(part) for part in version.split(".")[:2]): version for version in installations.known()}
    if not known:
        # Do not ask for the installed Triton: a cached report needs none.
        return []
    own = installed().numbers[:2]
    older = [release for release in known if release < own]
    newer = [release for release in known if release > own]
    return [known[release] for release in (*sorted(older)[-1:], *sorted(newer)[:1])]


def with_other_releases(reports: Sequence[KernelReport], target: str, options: CompileOptions) -> list[KernelReport]:
    """Return the reports with the results of the neighbouring releases for the same kernels.

    Args:
        reports: all kernels of the target, compiled by the installed Triton.
        target: a bundled kernel or ``FILE.py::FUNCTION``.
        options: options of the compiles.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    found = list(reports)
    for release in neighbours():
        keys = [_key(report, release) for report in reports]
        kept = [_read_cached(key) for key in keys]
        if None in kept:
            kept = list(_compiled(reports, target, options, release))
            for key, answer in zip(keys, kept, strict=True):
                if answer is not None:
                    _KEPT.write(key, [msgspec.json.encode(answer)])
        found = [_added(report, answer) for report, answer in zip(found, kept, strict=True)]
    return found


def _compiled(
    reports: Sequence[KernelReport], target: str, options: CompileOptions, release: str
) -> Iterator[OtherRelease | None]:
    """Yield a release's result for each kernel; ``None`` if it is unknown."""
    from kprof.diffing.comparing import Input, chains
    from kprof.tuning.trials.tritons import Tritons

    try:
        with step(f"compiling with Triton {release}"), Tritons(target, options, [release], _silent, _silent) as tritons:
            (side,) = tritons.sides()
    except KprofError as error:
        yield from (OtherRelease(release, error=error.message) for _ in reports)
        return
    sides = [Input("installed", reports), side]
    partners = {id(chain.entries[0]): chain.entries.get(1) for chain in chains(sides) if 0 in chain.entries}
    for report in reports:
        other = partners.get(id(report))
        if other is not None and other.model is not UNSET:
            yield OtherRelease(release, other.model.time_us, other.model.low_us, other.model.high_us, _spills(other))
        elif (report.name, report.arch) in side.lost:
            yield OtherRelease(release, error=side.lost[report.name, report.arch])
        else:
            yield None


def _added(report: KernelReport, other: OtherRelease | None) -> KernelReport:
    if other is None:
        return report
    known: Iterable[OtherRelease] = () if report.other_releases is UNSET else report.other_releases
    return msgspec.structs.replace(report, other_releases=[*known, other])


def _spills(report: KernelReport) -> int | None:
    spills = None if report.resources is UNSET else report.resources.vgpr_spills
    return None if spills is UNSET else spills


def _key(report: KernelReport, release: str) -> str:
    """Return the cache key of a kernel's code and launch with a release."""
    parts = [report.source, report.specialization, report.launch, report.resources, report.instructions]
    known = msgspec.to_builtins([*parts, report.model, report.product, report.arch, report.triton], enc_hook=str)
    return derived_key("releases", release, known)


def _read_cached(key: str) -> OtherRelease | None:
    kept = _KEPT.read(key)
    return None if kept is None else msgspec.json.decode(kept, type=OtherRelease)


def _silent(_: str) -> None:
    """Ignore progress messages of a download. None arrives, because only installed releases are used."""
