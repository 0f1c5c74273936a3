"""Measure the best predicted configurations (the short list) on this machine's GPU, and propose the fastest."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from kprof.bench.document import BenchTask, Device
from kprof.bench.pool import Runner
from kprof.errors import KprofError
from kprof.output.assignments import assigned
from kprof.output.quantities import duration
from kprof.tuning.verify import REP_MS, WARMUP_MS
from kprof_servers.served.document import NeededFile, PredictedConfig, RankedBatch
from kprof_servers.served.served_kernel import write_file
from kprof_servers.served.subject import ServedSubject

_SAME = 0.02
"""Measured times that differ by no more than this share count as equal."""


def check(device: Device, arch: str) -> None:
    """Check that a GPU can measure proposals for an architecture; called before anything is compiled.

    Raises:
        KprofError: the GPU has another architecture.
    """
    if device.arch != arch:
        raise KprofError(
            f"--verify: this machine's GPU is {device.name} ({device.arch}), the files are for {arch}",
            hint="measure on a GPU of that architecture: the ranking differs between architectures",
        )


@dataclass
class Verifier:
    """Measures the best predicted configurations of each file on a GPU.

    Attributes:
        device: the GPU.
        tell: called with each measurement.
        runner: the process that measures.
    """

    device: Device
    tell: Callable[[str], None] = lambda _text: None
    runner: Runner = field(default_factory=Runner)

    def measured(self, subject: ServedSubject, file: NeededFile) -> NeededFile:
        """Return the file with measured times, and the fastest configuration as the proposal.

        Args:
            subject: the kernel that was ranked.
            file: the file with its ranking.
        """
        target = str(write_file(subject))
        ranked = [self._batch(target, file.name, batch) for batch in file.ranked]
        return msgspec.structs.replace(file, ranked=ranked)

    def _batch(self, target: str, name: str, batch: RankedBatch) -> RankedBatch:
        runs = None if batch.runs is None else self._predicted_config(target, name, batch.rows, batch.runs)
        listed = [batch.best, *batch.runners_up] if batch.best is not None else []
        done = [
            runs
            if runs is not None and batch.runs is not None and one.config == batch.runs.config
            else self._predicted_config(target, name, batch.rows, one)
            for one in listed
        ]
        return in_order(batch, runs, done)

    def _predicted_config(self, target: str, name: str, rows: int, one: PredictedConfig) -> PredictedConfig:
        task = BenchTask(
            target=target, case=f"{rows} rows", shape={"rows": rows}, provider="triton", config=dict(one.config),
            warmup_ms=WARMUP_MS, rep_ms=REP_MS, device=self.device,
        )  # fmt: skip
        result = self.runner.measure(task)
        us = 1000 * result.timing.median if result.timing is not None and result.status == "ok" else None
        failure = "" if us is not None else ": ".join(filter(None, (result.status, result.message)))
        said = failure if us is None else f"{duration(us)} measured, {duration(one.time_us)} predicted"
        self.tell(f"{name}, {rows:,} rows, {assigned(one.config, ', ')}: {said}")
        return msgspec.structs.replace(one, measured_us=None if us is None else round(us, 3), failure=failure)


def in_order(batch: RankedBatch, runs: PredictedConfig | None, done: Sequence[PredictedConfig]) -> RankedBatch:
    """Return a batch with its configurations sorted by measured time.

    The current configuration becomes the proposal if no other configuration is faster.

    Args:
        batch: the batch as ranked.
        runs: the current configuration with its measured time, if there is one.
        done: the best predicted configurations with their measured times, in the order of the ranking.

    Returns:
        The batch. If nothing could be measured, it has no proposal, so that no untested configuration is written.
    """
    right = sorted((one for one in done if one.measured_us is not None), key=lambda one: one.measured_us or 0.0)
    failed = [one for one in done if one.measured_us is None]
    now = None if runs is None else runs.measured_us
    if runs is not None and now is not None and (not right or now <= (right[0].measured_us or 0.0)):
        right = [runs, *(one for one in right if one.config != runs.config)]
    if not right:
        return msgspec.structs.replace(
            batch,
            runs=runs,
            best=None,
            runners_up=failed,
            tie=False,
            reason="the short list could not be measured",
        )
    tie = now is not None and abs(now - (right[0].measured_us or 0.0)) <= _SAME * now
    return msgspec.structs.replace(batch, runs=runs, best=right[0], runners_up=[*right[1:], *failed], tie=tie)
