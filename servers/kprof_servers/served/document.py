"""Which tuned files a server looks for: the document ``kprof.server-configs/1``."""

from typing import Any, Literal

import msgspec

SCHEMA: Literal["kprof.server-configs/1"] = "kprof.server-configs/1"

Found = Literal["exact", "fallback", "default", "none", "unknown"]


class ServedBatch(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a batch size is served by.

    Attributes:
        rows: of the batch.
        bucket: the rows that the configuration was tuned for; absent where no bucket is chosen by the nearest number.
        config: the configuration that the server's own code gives, where it was asked.
    """

    rows: int
    bucket: int | None = None
    config: dict[str, int | float | str | bool | None] | None = None


class PredictedConfig(msgspec.Struct, frozen=True, omit_defaults=True):
    """A configuration with its predicted time.

    Attributes:
        config: under the server's own keys; a key that is not there is Triton's default.
        time_us: predicted, microseconds, of all launches of the layer's kernel together.
        low_us: the least that it may be.
        high_us: the most.
        vgpr_spills: registers that the compiler spilled.
        votes: of the server's tuned files for other shapes, the share that has it; absent where none was asked.
        measured_us: median of the measured times, microseconds; absent where nothing was measured or it failed.
        failure: why it could not be measured, or that its result was wrong.
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
    """What a batch size takes now, and with the configuration that is proposed.

    Attributes:
        rows: of the batch.
        looked_at: configurations that were compiled and predicted.
        runs: what the server would run; absent where it does not compile or is not known.
        best: the proposal; absent where nothing could be predicted.
        tie: the model cannot tell the two apart: there is nothing to gain that is known.
        runners_up: the next ones, for those who can measure.
        reason: why there is no ``runs`` or no ``best``.
        unlaunchable: what the server would run compiles and cannot be launched on this GPU; ``reason`` says why.
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
        """The proposal was measured, and what runs was, where it is known."""
        return self.best is not None and all(
            one is None or one.measured_us is not None for one in (self.best, self.runs)
        )

    def time_us(self, one: PredictedConfig) -> float:
        """Of one of its configurations: measured where both were, else predicted: the two are not compared."""
        return one.measured_us if self.measured and one.measured_us is not None else one.time_us

    @property
    def slower(self) -> bool:
        """The proposal, which tuned files of other shapes vote for, is predicted to be slower than what runs."""
        if self.tie or self.best is None or self.runs is None:
            return False
        return self.time_us(self.best) > self.time_us(self.runs)


class StepCost(msgspec.Struct, frozen=True):
    """What the kernels of all files take in one step of the model, of those layers whose number is known.

    Attributes:
        rows: of the step.
        runs_us: predicted with what the server would run, microseconds.
        best_us: predicted with what is proposed, where it is faster.
        files: that are in the sums.
    """

    rows: int
    runs_us: float
    best_us: float
    files: int


class NeededFile(msgspec.Struct, frozen=True, omit_defaults=True):
    """One tuned file that a server asks for.

    Attributes:
        kernel: ``fused MoE``, ``block FP8``, or AITER's family.
        layer: of the model: ``experts``, ``o_proj``; several that ask for the same file are listed.
        layers: how many layers have it; absent when not known.
        shape: what it is asked for: E and N, or N and K.
        name: of the file.
        status: ``exact``: it is there; ``fallback``: another file is taken instead, or a table has some batches only;
            ``default``: what the code has for all shapes; ``none``: not even that, the kernel is not launched;
            ``unknown``: not looked at.
        folder: where it belongs, relative to the server's root.
        opened: the file that is read instead or is it, relative to the server's root.
        others: files there for the same shape under another name of this GPU, which are not asked for.
        batches: what each batch size is served by.
        notes: what is odd, a sentence each.
        lint: findings of ``kprof lint`` in the opened file, rule and message.
        ranked: predicted times of each batch size, where they were asked for.
        unranked: why there are none, where they were asked for.
        basis: what the proposals rest on: tuned files of the server for other shapes, or the model alone.
        entry: keys that lead to the configuration, where the file is a table for all shapes.
        rest: what such a table has besides, taken from that of another architecture.
        rest_of: that table.
        alternative: another family for the same weights is asked for, too, and the server's caller chooses: it is in no
            sum.
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
    """The last line.

    Attributes:
        status: ``ok`` (exit 0), ``missing`` (1, with ``--strict`` only) or ``cannot_tell`` (2).
        summary: one line.
    """

    status: Literal["ok", "missing", "cannot_tell"]
    summary: str


class ServerConfigs(msgspec.Struct, frozen=True):
    """The whole document.

    Attributes:
        kprof: its version.
        model: path of the configuration.
        architecture: of the model.
        server: ``vllm``, ``sglang`` or ``aiter``.
        version: of the server that was looked at, or whose names the table has.
        looked: whether the server's own functions were called; otherwise names are of kprof's table.
        gpu: product.
        arch: ``gfx942``.
        device: what the server calls the GPU.
        weights: how they are quantised.
        tp: GPUs that share a layer.
        ep: groups that experts are distributed over.
        needed: files.
        problems: what is missing in the model's configuration, or cannot be; each makes the verdict ``cannot_tell``.
        notes: what was assumed, and what was not looked at.
        verdict: the result as a whole.
        steps: predicted times of whole steps, where they were asked for.
        measured_on: the GPU that proposals were measured on; empty where none was.
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
"""What ``kprof schema server-configs`` describes."""
