"""Judging what was read, so that errors behind the reader show."""

from collections.abc import Iterable
from functools import cache

from msgspec import UnsetType

from kprof.analysis import Analyzer, discover
from kprof.errors import KprofError
from kprof.targets.loaded import LoadedKernel
from kprof_analyzers.kernel_facts import not_modelled
from kprof_analyzers.model.occupancy_gain import explained
from kprof_analyzers.pipeline import analyze, facts_of


@cache
def _analyzers() -> tuple[Analyzer, ...]:
    return tuple(discover())


def judge(kernels: Iterable[LoadedKernel], *, model: bool) -> None:
    """Facts and rules of every kernel, and the model.

    The pipeline keeps an analyzer's error from ending the report, and the model's; here they end the run.
    """
    for kernel in kernels:
        document = analyze(kernel, _analyzers())
        assert not isinstance(document.rules, UnsetType)
        for failed in document.rules.failed:
            raise RuntimeError(f"{failed.analyzer}: {failed.reason}")
        facts, _ = facts_of(kernel)
        if model and not_modelled(facts) is None:
            try:
                explained(facts)
            except KprofError:
                continue
