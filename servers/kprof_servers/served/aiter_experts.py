"""AITER's CSV tables of experts: one line per number of tokens, model and GPU.

``get_2stage_cfgs`` of ``aiter/fused_moe.py`` looks up the lines. It also writes files, so kprof does not call it but
reimplements its rules. AITER rounds the number of tokens to a tier: below 32,768 tokens up to a power of two, otherwise
down to 32,768 or 131,072. If a tier has no line, the line of a smaller tier is used. kprof ignores the activation
function. The tables are ``configs/tuned_fmoe.csv`` and all ``configs/model_configs/*tuned_fmoe*.csv``; if several lines
have the same key, the first line is used. Taken from AITER e4048607a5.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kprof.errors import KprofError
from kprof.inputs import boundary
from kprof.inputs.csv_records import records
from kprof.inputs.weight_format import WeightFormat
from kprof.kernel_spec import ELEMENT_TYPES, resolve_fp8
from kprof_servers.served.devices import ServedGpu
from kprof_servers.served.document import Found, NeededFile, ServedBatch
from kprof_servers.served.shapes import ExpertShape

TABLE = "tuned_fmoe"
_CONFIGS = "aiter/configs"
_TIERS = (32768, 131072)
_UNITS = frozenset({"80", "304", "256"})
"""Numbers of compute units that identify the GPU in lines without an architecture (``gfx_from_cu_num``)."""
_KINDS = {
    "bf16": ("torch.bfloat16", "QuantType.No"),
    "fp8": ("fp8", "QuantType.per_Tensor"),
    "fp8-block": ("fp8", "QuantType.per_1x128"),
    "int8": ("torch.int8", "QuantType.per_Token"),
    "w4a16": ("torch.int4", "QuantType.per_1x32"),
    "mxfp4": ("torch.float4_e2m1fn_x2", "QuantType.per_1x32"),
}
"""Map from weight format to the type and the kind of scales in the table.

For MXFP4 weights, AITER's caller chooses the type of the activations.
"""
_MAKERS = (("_ZN", "assembly"), ("fmoe_", "assembly"), ("flydsl", "FlyDSL"), ("opus_", "Opus"), ("moe_ck", "CK"))
_NEEDED = {"token", "model_dim", "inter_dim", "expert", "topk", "cu_num", "q_dtype_w", "q_type"}


@dataclass(frozen=True)
class _Line:
    file: str
    makers: tuple[str, ...]
    us: str


def tier(tokens: int) -> int:
    """Return the tier of ``tokens``: the number of tokens that AITER looks up."""
    if tokens < _TIERS[0]:
        return 1 << (tokens - 1).bit_length()
    return max(each for each in _TIERS if tokens >= each)


def experts_table(
    experts: ExpertShape,
    weights: WeightFormat,
    gpu: ServedGpu,
    root: Path,
    batches: Sequence[int],
    *,
    shared: bool = False,
) -> list[NeededFile]:
    """Return the entries of AITER's tables for a mixture of experts.

    The result is empty if kprof does not know the tables' keys for the weight format.

    Args:
        experts: the experts on one GPU.
        weights: format of the weights.
        gpu: the GPU; lines contain its architecture and number of compute units.
        root: the folder that contains the package.
        batches: rows of a step.
        shared: whether the model has a shared expert, which a server may fuse as an additional expert.

    Raises:
        KprofError: a table cannot be read.
    """
    if weights.name not in _KINDS:
        return []
    lines = _first_lines(experts, weights, gpu, root)
    fused = replace(experts, count=experts.count + 1, chosen=experts.chosen + 1)
    others = _first_lines(fused, weights, gpu, root) if shared else {}
    taken = {rows: next((each for each in _searched_tiers(rows) if each in lines), None) for rows in batches}
    without = [rows for rows, tokens in taken.items() if tokens is None]
    status: Found = "exact" if not without else "default" if len(without) == len(taken) else "fallback"
    used = {tokens: lines[tokens] for tokens in taken.values() if tokens is not None}
    notes = []
    if used:
        makers = sorted({maker for line in used.values() for maker in line.makers})
        times = ", ".join(f"{tokens:,}: {line.us} µs" for tokens, line in sorted(used.items()) if line.us)
        notes.append(f"its kernels are {' and '.join(makers)}: kprof ranks only Triton's")
        notes += [f"measured by its tuner, by tokens: {times}"] if times else []
    if without and status == "fallback":
        notes.append(f"no line for {', '.join(f'{rows:,}' for rows in without)} rows: AITER's heuristics choose")
    if others:
        said = f"{len(others)} {'line is' if len(others) == 1 else 'lines are'} there"
        notes.append(f"with the shared expert fused, E {fused.count} and topk {fused.chosen} are looked up: {said}")
    return [
        NeededFile(
            kernel=f"{TABLE}.csv",
            layer="experts",
            layers=experts.layers,
            shape={"E": experts.count, "N": experts.inner, "K": experts.hidden, "topk": experts.chosen},
            name=f"{TABLE}.csv",
            folder=_CONFIGS,
            status=status,
            opened=next((line.file for line in used.values()), ""),
            batches=[ServedBatch(rows, tokens) for rows, tokens in taken.items()],
            notes=notes,
        )
    ]


def _first_lines(experts: ExpertShape, weights: WeightFormat, gpu: ServedGpu, root: Path) -> dict[int, _Line]:
    found: dict[int, _Line] = {}
    for tokens, line in _lines(root, _key(experts, weights, gpu)):
        found.setdefault(tokens, line)
    return found


def _searched_tiers(rows: int) -> list[int]:
    first = tier(rows)
    smaller = [each for each in reversed(_TIERS) if each < first] if first in _TIERS else []
    return [first, *smaller]


def _key(experts: ExpertShape, weights: WeightFormat, gpu: ServedGpu) -> dict[str, str]:
    kind, scales = _KINDS[weights.name]
    if kind == "fp8":
        kind = "torch." + ELEMENT_TYPES[resolve_fp8({"dtype": "fp8_e4m3"}, gpu.arch)["dtype"]].torch
    return {
        "gfx": gpu.arch, "cu_num": str(gpu.compute_units), "model_dim": str(experts.hidden),
        "inter_dim": str(experts.inner), "expert": str(experts.count), "topk": str(experts.chosen),
        "dtype": "torch.bfloat16", "q_dtype_w": kind, "q_type": scales, "use_g1u1": "1", "doweight_stage1": "0",
    }  # fmt: skip


def _lines(root: Path, wanted: Mapping[str, str]) -> Iterator[tuple[int, _Line]]:
    folder = root / _CONFIGS
    for path in [folder / f"{TABLE}.csv", *sorted((folder / "model_configs").glob(f"*{TABLE}*.csv"))]:
        if not path.is_file() or "untuned" in path.name:
            continue
        text = boundary.read_text(path)
        found = records(text.splitlines(keepends=True), str(path), skip_spaces=True)
        header = [cell.strip() for cell in next(found, [])]
        if not set(header) >= _NEEDED:
            missing = ", ".join(sorted(_NEEDED - set(header)))
            raise KprofError(f"is no table of experts: {missing} is missing", path=str(path))
        for cells in found:
            row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
            if row.get("gfx", "") in {"", "0", "nan", "None"}:
                # Lines without an architecture are for the GPU with this number of compute units, if the number
                # identifies a GPU. As in other lines, the number must match.
                row["gfx"] = wanted["gfx"] if row.get("cu_num", "") in _UNITS else ""
            tokens = boundary.whole_number(row.get("token"))
            fits = row.get("_tag") != "flydsl_fallback" and all(row.get(n, v) == v for n, v in wanted.items())
            if fits and tokens is not None:
                names = [row.get("kernelName1", ""), row.get("kernelName2", "")]
                makers = tuple(dict.fromkeys(_maker_of(name) for name in names if name))
                yield tokens, _Line(str(path.relative_to(root)), makers or ("its heuristics'",), row.get("us", ""))


def _maker_of(name: str) -> str:
    return next((maker for start, maker in _MAKERS if name.startswith(start)), "other makers'")
