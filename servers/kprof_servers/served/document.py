"""The document ``kprof.server-configs/1``: the tuned files that a server looks for."""

from typing import Any, Literal

import msgspec

SCHEMA: Literal["kprof.server-configs/1"] = "kprof.server-configs/1"

Found = Literal["exact", "fallback", "default", "none", "unknown"]


class ServedBatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """The configuration that the server uses for one batch size.

    Attributes:
        rows: number of rows of the batch.
        bucket: number of rows that the configuration was tuned for; absent for servers that do not choose the bucket
            with the nearest number of rows.
        config: the configuration returned by the server's own code, if it was called.
    """

    rows: int
    bucket: int | None = None
    config: dict[str, int | float | str | bool | None] | None = None


class PredictedConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """A configuration with its predicted time.

    Attributes:
        config: knobs under the server's own names; a missing knob has Triton's default.
        time_us: predicted time of all launches of the layer's kernel together, in microseconds.
        low_us: lower bound of the prediction.
        high_us: upper bound of the prediction.
        vgpr_spills: number of registers that the compiler spilled.
        votes: share of the weighted votes for this configuration, from 0 to 1; the server's tuned files for other
            shapes vote. Absent without such files.
        measured_us: median of the measured times in microseconds; absent if not measured or if the measurement failed.
        failure: reason why the configuration could not be measured, or a statement that its result was wrong.
    """

    config: dict[str, int | float | str | bool | None]
    time_us: float
    low_us: float
    high_us: float
    vgpr_spills: int = 0
    votes: float | None = None
    measured_us: float | None = None
    failure: str = ""


class RankedBatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """The predicted time of a batch size with the current and with the proposed configuration.

    Attributes:
        rows: rows of the batch.
        looked_at: number of configurations that were compiled and predicted.
        runs: the configuration that the server would run; absent if it does not compile or is unknown.
        best: the proposal; absent if nothing could be predicted.
        tie: True if the model cannot distinguish the times of ``runs`` and ``best``, so no gain is known.
        runners_up: the next best configurations, to be measured.
        reason: reason why ``runs`` or ``best`` is absent.
        unlaunchable: True if the configuration that the server would run compiles but cannot be launched on this GPU;
            ``reason`` says why.
    """

    rows: int
    looked_at: int = 0
    runs: PredictedConfig | None = None
    best: PredictedConfig | None = None
    tie: bool = False
    runners_up: list[PredictedConfig] = []
    reason: str = ""
    unlaunchable: bool = False

    @property
    def measured(self) -> bool:
        """Whether the proposal was measured and, if known, also the current configuration."""
        return self.best is not None and all(
            one is None or one.measured_us is not None for one in (self.best, self.runs)
        )

    def time_us(self, one: PredictedConfig) -> float:
        """Return a configuration's time: measured if ``runs`` and ``best`` were both measured, else predicted."""
        return one.measured_us if self.measured and one.measured_us is not None else one.time_us

    @property
    def slower(self) -> bool:
        """Whether the proposal, chosen by votes, is predicted to be slower than the current configuration."""
        if self.tie or self.best is None or self.runs is None:
            return False
        return self.time_us(self.best) > self.time_us(self.runs)


class StepCost(msgspec.Struct, frozen=True):
    """The summed time of the kernels of all files in one step of the model.

    Files are included only if the number of layers that use them is known.

    Attributes:
        rows: rows of the step.
        runs_us: predicted time with the configurations that the server would run, in microseconds.
        best_us: predicted time in microseconds, with each proposal that is faster than the current configuration.
        files: number of files included in the sums.
    """

    rows: int
    runs_us: float
    best_us: float
    files: int


class NeededFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tuned file that a server looks for.

    Attributes:
        kernel: ``fused MoE``, ``block FP8``, or the name of an AITER kernel family.
        layer: layers of the model that use the file: ``experts``, ``o_proj``, or a list.
        layers: number of these layers; absent if unknown.
        shape: sizes that the lookup is called with: E and N, or N and K.
        name: name of the file.
        status: ``exact``: the file exists; ``fallback``: another file is used, or a table has only some batches;
            ``default``: the code's default for all shapes is used; ``none``: there is no default, and the kernel is not
            launched; ``unknown``: not looked up.
        folder: folder that the file belongs in, relative to the server's root.
        opened: the file that is read, possibly another one, relative to the server's root.
        others: existing files for the same shape whose names contain another name of this GPU; the server does not
            look for them.
        batches: the configuration that each batch size uses.
        notes: anomalies, one sentence each.
        lint: findings of ``kprof lint`` in the opened file: rule, severity and message.
        ranked: predicted times of each batch size, if requested.
        unranked: reason why there are no predicted times although they were requested.
        basis: source of the proposals: the server's tuned files for other shapes, or the model alone.
        entry: keys of the configuration in the file, if the file is a table for all shapes.
        rest: the other entries of such a table, copied from that of another architecture.
        rest_of: name of the table that ``rest`` was copied from.
        alternative: True if the file is for a kernel family that the server's caller may choose instead of the main
            one for the same weights; it is not included in sums.
    """

    kernel: str
    layer: str
    shape: dict[str, int]
    name: str
    status: Found
    layers: int | None = None
    folder: str = ""
    opened: str = ""
    others: list[str] = []
    batches: list[ServedBatch] = []
    notes: list[str] = []
    lint: list[str] = []
    ranked: list[RankedBatch] = []
    unranked: str = ""
    basis: str = ""
    entry: list[str] = []
    rest: dict[str, Any] = {}
    rest_of: str = ""
    alternative: bool = False


class ServerVerdict(msgspec.Struct, frozen=True):
    """The overall result, which is the last line of the text output.

    Attributes:
        status: ``ok`` (exit 0), ``missing`` (1, only with ``--strict``) or ``cannot_tell`` (2).
        summary: the verdict in one line.
    """

    status: Literal["ok", "missing", "cannot_tell"]
    summary: str


class ServerConfigs(msgspec.Struct, frozen=True):
    """The whole document.

    Attributes:
        kprof: version of kprof.
        model: path of the model's configuration.
        architecture: architecture of the model.
        server: ``vllm``, ``sglang`` or ``aiter``.
        version: version of the server's code that was read, or the version that kprof's table of names is for.
        looked: whether the server's own functions were called; otherwise names come from kprof's table.
        gpu: name of the product, ``MI300X``.
        arch: name of the architecture, ``gfx942``.
        device: the server's name of the GPU.
        weights: format of the weights.
        tp: number of GPUs that share each layer.
        ep: number of groups of GPUs that experts are distributed over.
        needed: the files.
        problems: missing or impossible values in the model's configuration; each makes the verdict ``cannot_tell``.
        notes: assumptions, and parts of the model that were not checked.
        verdict: the overall result.
        steps: predicted times of whole steps, if requested.
        measured_on: the GPU that proposals were measured on; empty if none was measured.
        schema: always ``kprof.server-configs/1``.
    """

    kprof: str
    model: str
    architecture: str
    server: str
    version: str
    looked: bool
    gpu: str
    arch: str
    device: str
    weights: str
    tp: int
    ep: int
    needed: list[NeededFile]
    problems: list[str]
    notes: list[str]
    verdict: ServerVerdict
    steps: list[StepCost] = []
    measured_on: str = ""
    schema: Literal["kprof.server-configs/1"] = SCHEMA


DOCUMENT = ServerConfigs
"""Structure whose schema ``kprof schema server-configs`` prints."""
