"""Measure how often the proposal from a server's other tuned files equals a file's configuration.

    python validation/validate_proposals.py --vllm DIR --sglang DIR [--sample 40] [--write PAGE]

Each bucket of a file is a question, and its configuration is the correct answer. All files of the same kernel and
GPU for other shapes vote, as for ``kprof configs --rank``. For comparison, the most common configurations of the
same files are proposed, regardless of shape and rows. With ``--sample``, some questions are also compiled with the
server's own kernel.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kprof.inputs.weight_format import WeightFormat
from kprof_servers.served.shapes import ExpertShape, LayerShapes, ProductShape
from kprof_servers.served.tuned_neighbours import TunedFile, read_all, votes

PLACES = {
    ("vllm", "block FP8"): "vllm/model_executor/layers/quantization/utils/configs",
    ("vllm", "fused MoE"): "vllm/model_executor/layers/fused_moe/configs",
    ("sglang", "block FP8"): "sglang/kernels/ops/gemm/configs",
    ("sglang", "fused MoE"): "sglang/srt/layers/moe/moe_runner/triton_utils/configs",
}
SPACES = {"block FP8": 1280, "fused MoE": 10_000}
"""Configurations of vLLM's tuners: ``benchmark_w8a8_block_fp8.py`` and ``benchmark_moe.py`` of 0.33.0, for AMD GPUs."""
_WIDTH, _CHOSEN = 4096, 8
_TILE = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
_NAMES = re.compile(r"[EN]=\d+,[NK]=\d+,device_name=AMD.*\.json")
_OLDER = re.compile(r"MI3(00X|25X|08X)$")
Question = tuple[TunedFile, int, list[TunedFile]]


@dataclass
class Score:
    """Results of one method of choosing configurations.

    Attributes:
        asked: number of questions.
        hits: number of correct answers by criterion: ``first``, ``five``, ``tile``, ``tiles``, or ``top`` (within
            the first 5 % of the tuner's space).
        space: number of configurations in a tuner's space; 0 if the list is shorter than 5 % of it by design.
    """

    asked: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    space: int = 0

    def add(self, winner: Any, ranked: Sequence[Any]) -> None:
        """Count one answer, given the correct configuration and the proposed ones, best first."""
        self.asked += 1
        five = [_key(config) for config in ranked[:5]]
        tiles = [_tile(config) for config in ranked[:5]]
        self.hits["first"] += five[:1] == [_key(winner)]
        self.hits["five"] += _key(winner) in five
        self.hits["tile"] += tiles[:1] == [_tile(winner)]
        self.hits["tiles"] += _tile(winner) in tiles
        self.hits["top"] += _key(winner) in [_key(config) for config in ranked[: self.space // 20]]

    def cells(self) -> str:
        """Shares in percent, in the order of the table."""
        names = ("first", "five", "tile", "tiles", "top")
        known = [name for name in names if name != "top" or self.space]
        shares = [f"{100 * self.hits[name] / self.asked:.0f} %" for name in known]
        return " | ".join([*shares, *["-"] * (len(names) - len(known))])


def questions(folder: Path) -> list[Question]:
    """Yield each bucket of each file for an AMD GPU with the files that may vote, if there are at least three."""
    found: list[Question] = []
    for file in _files(folder):
        others = [
            other
            for other in _files(folder)
            if other.sizes != file.sizes and (other.device, other.kind) == (file.device, file.kind)
        ]
        if len({other.sizes for other in others}) >= 3:
            found += [(file, rows, others) for rows in file.buckets]
    return found


_known: dict[Path, list[TunedFile]] = {}


def _files(folder: Path) -> list[TunedFile]:
    if folder not in _known:
        folders = [folder, *sorted(folder.glob("triton_*"))]
        names = {path.name for each in folders for path in each.glob("*.json") if _NAMES.fullmatch(path.name)}
        kinds = {re.sub(r"=\d+", "=0", name, count=2): name for name in sorted(names)}
        # If the requested sizes are in no file, all files of the kind are other files.
        found = {}
        for name in kinds:
            for file in read_all(folders, name):
                if "AMD" in file.device:
                    found[file.sizes, file.device, file.kind, str(sorted(file.buckets))] = file
        _known[folder] = list(found.values())
    return _known[folder]


def _key(config: Any) -> str:
    return repr(sorted(config.items()))


def _tile(config: Any) -> tuple[Any, ...]:
    return tuple(config.get(name) for name in _TILE)


def defaults(server: str, kernel: str, root: Path, asked: Sequence[Question]) -> Iterator[tuple[str, Score]]:
    """Return the configurations that the server's code uses without a file, by calling it for a GPU that has none."""
    from kprof_servers.served.default_config import default_config
    from kprof_servers.served.lookup import ServerCode, ask
    from kprof_servers.served.registry import server_of

    needs = [_need(server_of(server), kernel, file, rows) for file, rows, _ in asked]
    score = Score()
    if kernel == "block FP8":
        call = next(iter(needs[0].calls.values()))
        found = [
            default_config(root / name, call.function, (128, 128)) for name in call.files if (root / name).is_file()
        ]
        answers = [next((each for each in found if each is not None), {})] * len(asked)
    else:
        calls = [need.calls[rows] for need, (_, rows, _) in zip(needs, asked, strict=True)]
        given = ask(ServerCode(root, ""), calls, device="none", arch="gfx942", triton="3.6.0")
        answers = [each.result[0] if isinstance(each.result, list) else each.result for each in given]
        answers = [answer if isinstance(answer, dict) else {} for answer in answers]
    for (file, rows, _), answer in zip(asked, answers, strict=True):
        score.add(file.buckets[rows], [answer] if answer else [])
    yield "the server's default", score


def _need(server: Any, kernel: str, file: TunedFile, rows: int) -> Any:
    """Return the lookup of a file's shape; the defaults do not depend on a model's width."""
    first, second = file.sizes
    weights = _weights(file.kind)
    if kernel == "block FP8":
        shapes = LayerShapes([ProductShape("dense", first, second, 1)], None, [])
    else:
        shapes = LayerShapes([], ExpertShape(first, second, _WIDTH, _CHOSEN, 1, everywhere=first), [])
    return server.needed(shapes, weights, (rows,))[0]


def _weights(kind: str) -> WeightFormat:
    block = re.search(r"block_shape=\[(\d+),(\d+)\]", kind)
    if block is not None:
        return WeightFormat("fp8-block", block=(int(block[1]), int(block[2])))
    names = {"fp8_w8a8": "fp8", "int4_w4a16": "w4a16", "int8_w8a8": "int8"}
    name = next((names[each] for each in names if each in kind), "bf16")
    return WeightFormat(name, group=128 if name == "w4a16" else None)


def scored(asked: Sequence[Question], space: int) -> Iterator[tuple[str, Score]]:
    """Score the votes of the nearest files, and the most common configurations."""
    near, common = Score(space=space), Score(space=space)
    for file, rows, others in asked:
        winner = file.buckets[rows]
        near.add(winner, [config for config, _ in votes(others, file.sizes, rows)])
        counted = Counter(_key(config) for other in others for config in other.buckets.values())
        by_key = {_key(config): config for other in others for config in other.buckets.values()}
        common.add(winner, [by_key[key] for key, _ in sorted(counted.items(), key=lambda each: (-each[1], each[0]))])
    yield "nearest files' votes", near
    yield "most common", common


def compiled(server: str, root: Path, asked: Sequence[Question]) -> Iterator[tuple[str, Score]]:
    """Compile some questions with the server's kernel: the model alone, and votes with predicted times."""
    from kprof.hardware.machine import load_gpu
    from kprof.importing.functions import load_function
    from kprof.tuning import request
    from kprof.tuning.executors.local import LocalExecutor
    from kprof.tuning.search import Search
    from kprof.tuning.space import Space
    from kprof_servers.served.kernel_source import cut, has_function
    from kprof_servers.served.launches import ServedProduct
    from kprof_servers.served.ranking import VOTED, complete, in_order
    from kprof_servers.served.registry import server_of
    from kprof_servers.served.subject import ServedSubject

    places = server_of(server).kernels["block FP8"]
    name, function = next(each for each in places if has_function(root, root / each[0], each[1]))
    kernel = load_function(cut(root, root / name, function), function)
    judge = request.judge()
    alone, both, votes_only = Score(), Score(), Score()
    for file, rows, others in asked:
        heard = votes(others, file.sizes, rows)
        winner = file.buckets[rows]
        arch, product = load_gpu(file.device.rpartition("_")[2])
        subject = ServedSubject(function, kernel, arch, product, ServedProduct(*file.sizes, 128, 128), (rows,))
        listed = tuple(complete(config) for config, _ in heard[:VOTED])
        search = Search(
            subject, Space("files", listed=listed), judge=judge, executor=LocalExecutor(judge), journal=None
        )
        ranked = search.run().ranked[0]
        full = complete(winner)
        votes_only.add(full, [complete(config) for config, _ in heard])
        alone.add(full, [each for one in ranked for each in (one.config, *one.alike)][:5])
        both.add(full, [one.config for one, _ in in_order(ranked, heard)])
    yield "nearest files' votes, of the sample", votes_only
    yield "votes and the model, of the sample", both
    yield "the model alone over the same five, of the sample", alone


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vllm", type=Path, help="the folder that the package vllm is in")
    parser.add_argument("--sglang", type=Path, help="the folder that the package sglang is in")
    parser.add_argument("--sample", type=int, default=0, help="block-FP8 questions of each server to compile")
    parser.add_argument("--write", type=Path, help="the page")
    given = parser.parse_args()
    lines = []
    for (server, kernel), place in PLACES.items():
        root: Path | None = getattr(given, server)
        if root is None:
            continue
        asked = questions(root / place)
        rows = [*scored(asked, SPACES[kernel]), *defaults(server, kernel, root, asked)]
        if given.sample and kernel == "block FP8":
            mine = [each for each in asked if _OLDER.search(each[0].device) and "fp8" in each[0].kind]
            rows += compiled(server, root, random.Random(3).sample(mine, min(given.sample, len(mine))))
        lines += [f"| {server} | {kernel} | {name} | {score.asked:,} | {score.cells()} |" for name, score in rows]
    table = "\n".join(lines)
    if given.write is None:
        print(table)
        return
    text = given.write.read_text()
    head, mark, rest = text.partition("<!-- table -->\n")
    given.write.write_text(
        f"{head}{mark}{_HEAD}{table}\n<!-- end of table -->{rest.partition('<!-- end of table -->')[2]}"
    )


_COLUMNS = (
    "server", "kernel", "chosen by", "buckets", "first is it", "among five", "first has its tile", "among five",
    "in the first 5 % of the space",
)  # fmt: skip
_HEAD = f"| {' | '.join(_COLUMNS)} |\n{'|---' * len(_COLUMNS)}|\n"

if __name__ == "__main__":
    main()
