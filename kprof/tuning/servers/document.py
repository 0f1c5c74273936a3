"""Which tuned files a server looks for: the document ``kprof.server-configs/1``."""

from typing import Literal

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
        lint: findings of ``kprof lint-configs`` in the opened file, rule and message.
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
        ep: groups that experts are dealt out to.
        needed: files.
        problems: what is missing in the model's configuration, or cannot be; each makes the verdict ``cannot_tell``.
        notes: what was assumed, and what was not looked at.
        verdict: the result as a whole.
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
    schema: Literal["kprof.server-configs/1"] = SCHEMA
