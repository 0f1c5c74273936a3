"""Choose the rows of the published tables to predict by a fixed rule; half of the problems may set constants."""

import ast
import csv
import gzip
import hashlib
import json
import math
import random
import re
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

TABLES = ("trajectories", "agent_kernels")
VERSIONS = 6
"""Number of programs per problem, evenly spread over the order of their times, including fastest and slowest."""
COMMON = 0.8
"""A size is used if at least this share of a problem's programs was timed on it."""
SIZES = ("big", "medium", "small")
Half = Literal["constants", "judge"]
By = Literal["agents", "eager", "compiled"]
"""Author of a program: an agent, or the problem itself in torch, eager or through ``torch.compile``."""
TORCH: Mapping[By, str] = {"eager": "v1_eager", "compiled": "v2_compile"}
"""Variants of torch's programs in the published table."""
TORCH_SET, TORCH_AGAIN = "06-MI355X/authoritative-merged", "06-MI355X/candidates"
"""The published set of torch's programs that counts, and the one that has most of them measured a second time."""
REPEATED = 1.25
"""Largest ratio of a row's two measurements; beyond it something else ran on that GPU."""

_LIBRARY = re.compile(
    r"torch\.(mm|matmul|bmm|addmm|baddbmm|conv\w*|einsum|compile|_scaled_mm|fft)\b|\bF\.(linear|conv\w*|scaled_dot\w*)|"
    r"aiter|hipblas|cuda\.graph|Graph\(|\w @ \w"
)
_FROM_FILES = re.compile("paged|ragged")
"""Problems whose lengths come from files that were not published."""


@dataclass(frozen=True)
class Job:
    """One program on one size.

    Attributes:
        id: its number.
        problem: name of the problem.
        workload: the size's id.
        size: ``big``, ``medium`` or ``small`` by measured time.
        blob: git blob of the program; "" for the problem's own in torch.
        measured_us: median of its times.
        by: its author.
        clock_mhz: measured clock; 0 if it is unknown or was held.
    """

    id: int
    problem: str
    workload: str
    size: str
    blob: str
    measured_us: float
    by: By = "agents"
    clock_mhz: float = 0.0


def half_of(problem: str) -> Half:
    """Return whether a problem may set constants or only evaluates, by the hash of its name."""
    return "judge" if hashlib.sha256(problem.encode()).digest()[-1] % 2 else "constants"


def problems_of(mirror: Path) -> Mapping[str, Any]:
    """Return the definitions of problems in a mirror of the repository: reference program, axes, inputs, sizes."""
    text = _git(mirror, "show", "HEAD:reference/dataset-meta.json")
    found: Mapping[str, Any] = json.loads(text)["problems"]
    return found


def sources_of(mirror: Path, blobs: Sequence[str]) -> Mapping[str, str]:
    """Return the text of each program in the mirror by its blob."""
    named = sorted(set(blobs))
    command = ["git", "-C", str(mirror), "cat-file", "--batch"]
    out = subprocess.run(command, input="\n".join(named).encode(), capture_output=True, check=True).stdout
    found, at = {}, 0
    while at < len(out):
        end = out.index(b"\n", at)
        name, kind, *size = out[at:end].split()
        at = end + 1
        if kind != b"missing":
            found[name.decode()] = out[at : at + int(size[0])].decode(errors="replace")
            at += int(size[0]) + 1
    return found


def jobs_of(data: Path, mirror: Path, sizes: Sequence[str] = SIZES) -> list[Job]:
    """Return every row that the rule draws: programs whose only kernels are Triton's own, on common sizes."""
    problems = problems_of(mirror)
    times: defaultdict[str, defaultdict[str, defaultdict[str, list[float]]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(list))
    )
    for row in _rows(data):
        if row["problem"] in problems and not _FROM_FILES.search(row["problem"]):
            times[row["problem"]][row["workload"]][row["kernel_blob"]].append(float(row["time_us"]))
    named = {blob for by_size in times.values() for by_blob in by_size.values() for blob in by_blob}
    own = {blob for blob, text in sources_of(mirror, sorted(named)).items() if is_triton_only(text)}
    found: list[Job] = []
    for problem, by_size in sorted(times.items()):
        known = {workload["uuid"] for workload in problems[problem]["workloads"]}
        medians = {
            size: {blob: statistics.median(some) for blob, some in by_blob.items() if blob in own}
            for size, by_blob in by_size.items()
            if size in known
        }
        for label, size, blob, measured in _drawn({s: m for s, m in medians.items() if m}):
            if label in sizes:
                found.append(Job(len(found), problem, size, label, blob, measured))
    return found


def torch_jobs(data: Path, mirror: Path, by: By, *, every_size: bool = False) -> list[Job]:
    """Return the rows of torch's programs on an MI355X with a free clock: two sizes of each problem, or every size.

    The two sizes are the longest and the median by eager time, so that both variants have the same. Rows that were
    measured twice with times that differ by more than 25 % are left out.
    """
    problems = problems_of(mirror)
    times = {name: of_torch(data, name, "time_us") for name in (TORCH_SET, TORCH_AGAIN)}
    clocks = of_torch(data, TORCH_SET, "clock_mhz")
    found: list[Job] = []
    for problem, definition in sorted(problems.items()):
        eager = times[TORCH_SET][problem, TORCH["eager"]]
        order = sorted((eager[each["uuid"]], each["uuid"]) for each in definition["workloads"] if each["uuid"] in eager)
        if not order:
            continue
        two = (("big", order[-1][1]), ("medium", order[len(order) // 2][1]))
        for size, workload in [("", uuid) for _, uuid in order] if every_size else two:
            measured = times[TORCH_SET][problem, TORCH[by]].get(workload)
            again = times[TORCH_AGAIN][problem, TORCH[by]].get(workload, measured)
            if measured and again and abs(math.log(measured / again)) <= math.log(REPEATED):
                clock = clocks[problem, TORCH[by]].get(workload, 0.0)
                found.append(Job(len(found), problem, workload, size, "", measured, by, clock))
    return found


def of_torch(data: Path, name: str, column: str) -> dict[tuple[str, str], dict[str, float]]:
    """Return a column of one published set of torch's programs: numbers by size, by problem and variant."""
    found: defaultdict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for row in _table(data / "sol_execbench_rocm_torch_variants.csv.gz"):
        if row["set"] == name and row.get(column) and not _FROM_FILES.search(row["problem"]):
            found[row["problem"], row["variant"]][row["workload"]] = float(row[column])
    return found


def sample(jobs: Sequence[Job], count: int, seed: int) -> list[Job]:
    """Return ``count`` of the jobs, whole problems at a time so that orders can be evaluated; all of them for 0."""
    if not count or count >= len(jobs):
        return list(jobs)
    problems = sorted({job.problem for job in jobs})
    random.Random(seed).shuffle(problems)
    found: list[Job] = []
    for problem in problems:
        if len(found) >= count:
            break
        found += [job for job in jobs if job.problem == problem]
    return sorted(found[:count], key=lambda job: job.id)


def written(jobs: Sequence[Job]) -> str:
    """Return jobs as JSON."""
    return json.dumps([asdict(job) for job in jobs], indent=1)


def is_triton_only(text: str) -> bool:
    """Return whether a program has Triton kernels and calls no library's product, convolution or graph besides them."""
    if "triton.jit" not in text or "load_inline" in text or "__global__" in text:
        return False
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    host = ast.unparse(_HostCode().visit(tree))
    return "def run" in host and not _LIBRARY.search(host)


class _HostCode(ast.NodeTransformer):
    """Collector of host code: without jitted functions and docstrings."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST | None:
        if any("jit" in ast.unparse(each) for each in node.decorator_list):
            return None
        self.generic_visit(node)
        first = node.body[0] if node.body else None
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            node.body = node.body[1:] or [ast.Pass()]
        return node


def _drawn(medians: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, str, float]]:
    """Yield label, size, program and time of each chosen row of a problem."""
    if not medians:
        return
    most = max(map(len, medians.values()))
    common = [size for size, some in medians.items() if len(some) >= COMMON * most]
    order = sorted(common, key=lambda size: (statistics.median(medians[size].values()), size))
    labelled = dict(zip(SIZES, (order[-1], order[len(order) // 2], order[0]), strict=True))
    big = sorted(medians[order[-1]], key=lambda blob: (medians[order[-1]][blob], blob))
    count = min(VERSIONS, len(big))
    chosen = dict.fromkeys(big[round(n * (len(big) - 1) / max(count - 1, 1))] for n in range(count))
    taken: set[str] = set()
    for label, size in labelled.items():
        if size not in taken:
            taken.add(size)
            yield from ((label, size, blob, medians[size][blob]) for blob in chosen if blob in medians[size])


def _rows(data: Path) -> Iterator[dict[str, str]]:
    for name in TABLES:
        for row in _table(data / f"sol_execbench_rocm_{name}.csv.gz"):
            if row["kernel_blob"] and row["time_us"] and row.get("status", "PASSED") == "PASSED":
                yield row


def _table(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def _git(mirror: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(mirror), *words], capture_output=True, check=True, text=True).stdout
