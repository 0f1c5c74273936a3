"""Measure a warm session and the page of ``kprof view``: new configurations, repeated queries, changed knobs.

Each new configuration of attention is compiled bare (``triton.compile`` without a cache in a warm process). Then it is
queried from a session, and from ``kprof view`` with the requests of its page, both with an empty cache of kprof::

    python validation/benchmarks/live_session.py --configs 8

Budgets: a new configuration 1.2 times its bare compile; the page's first figures 1.3 times the bare compile plus 100
ms; from the compile cache 200 ms; a repeated query 50 ms. Processor time includes all processes that work on the
answer; on a busy machine, only processor time is meaningful.
"""

import argparse
import contextlib
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import kprof

BARE = """
import json, sys, time, warnings
warnings.simplefilter("ignore")
import triton
from kprof.compiler import versions
from kprof.compiler.in_process import _values, function_of
from kprof.compiler.request import from_json
api = versions.api()
for line in sys.stdin:
    request = from_json(json.loads(line))
    function = function_of(request)
    source = api.ast_source(function.jit, dict(request.signature), *_values(api, request, function))
    target = api.gpu_target("hip", request.arch, versions.warp_size(request.arch))
    with versions.linker(api.numbers, {}):
        began, busy = time.perf_counter(), time.process_time()
        triton.compile(source, target=target, options=dict(request.options))
        print(time.perf_counter() - began, time.process_time() - busy, flush=True)
"""
TARGET = "flash_attention"
ARCH = "gfx942"
TICKS = os.sysconf("SC_CLK_TCK")


def configs(count: int) -> list[dict[str, int]]:
    """Return configurations of attention, all different from its default."""
    found = [
        {"BLOCK_M": m, "BLOCK_N": n, "num_warps": warps, "waves_per_eu": waves}
        for waves in (1, 2)
        for warps in (4, 8)
        for n in (32, 64, 16)
        for m in (64, 128, 256)
    ]
    return found[:count]


def requests(chosen: list[dict[str, int]]) -> list[Any]:
    """Return the compile requests of the configurations."""
    from kprof.hardware.machine import load
    from kprof.options.groups import CompileOptions
    from kprof.targets.jobs import plan

    machines = [load(ARCH)]
    return [plan(TARGET, machines, CompileOptions(arch=ARCH, config=config))[0].request for config in chosen]


def spent(root: int) -> float:
    """Return the processor seconds of a process and of its descendants that are alive or were waited for."""
    parents: dict[int, list[int]] = {}
    times: dict[int, float] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
                times[int(entry.name)] = sum(map(int, fields[11:15])) / TICKS
    total, left = 0.0, [root]
    while left:
        one = left.pop()
        total += times.get(one, 0.0)
        left += parents.get(one, [])
    return total


def timed(root: int, ask: Callable[[], Any]) -> tuple[float, float]:
    """Return wall and processor seconds of a query."""
    busy, began = spent(root), time.perf_counter()
    ask()
    wall = time.perf_counter() - began
    return wall, spent(root) - busy


@contextlib.contextmanager
def bare() -> Iterator[Callable[[Any], tuple[float, float]]]:
    """Start a process that compiles with an empty cache of Triton."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-c", BARE],
            env={**os.environ, "TRITON_CACHE_DIR": folder, "TRITON_ALWAYS_COMPILE": "1"},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        source, answers = process.stdin, process.stdout

        def compile_one(request: Any) -> tuple[float, float]:
            source.write(json.dumps(request.to_json()) + "\n")
            source.flush()
            wall, busy = map(float, answers.readline().split())
            return wall, busy

        try:
            yield compile_one
        finally:
            process.kill()
            process.wait()


@contextlib.contextmanager
def viewed() -> Iterator[tuple[int, Callable[[str, dict[str, Any]], Any]]]:
    """Start ``kprof view``, queried as by its page."""
    command = [sys.executable, "-m", "kprof", "view", TARGET, "--arch", ARCH, "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    place, _, token = process.stdout.readline().strip().partition("/#")

    def ask(what: str, question: dict[str, Any]) -> Any:
        connection = http.client.HTTPConnection(place.removeprefix("http://"), timeout=300)
        connection.request("POST", f"/api/{what}", json.dumps(question), {"X-Kprof-Token": token})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"{answer.status}: {text.decode()}")
        return json.loads(text)

    try:
        yield process.pid, ask
    finally:
        process.terminate()
        process.wait()


def table(name: str, rows: list[tuple[float, float]], of: list[tuple[float, float]] | None = None) -> None:
    """Print one line: median, maximum, and the ratio to the bare compiles."""
    walls, busy = ([row[at] for row in rows] for at in (0, 1))
    ratio = ""
    if of is not None:
        by_wall, by_busy = (statistics.median(a[at] / b[at] for a, b in zip(rows, of, strict=True)) for at in (0, 1))
        ratio = f"   {by_wall:.2f} of the bare compile's wall time, {by_busy:.2f} of its processor time"
    print(
        f"{name:34} {1000 * statistics.median(walls):6.0f} ms, worst {1000 * max(walls):6.0f}; "
        f"processor {1000 * statistics.median(busy):6.0f} ms, worst {1000 * max(busy):6.0f}{ratio}",
        flush=True,
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--configs", type=int, default=8)
    chosen = configs(parser.parse_args().configs)
    asked = requests(chosen)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)
    with tempfile.TemporaryDirectory() as cache, bare() as compile_one:
        os.environ["KPROF_CACHE_DIR"] = f"{cache}/session"
        compile_one(asked[0])
        bares, news, again, cached = [], [], [], []
        with kprof.Session(jobs=1, warm=True) as session:
            session.ask("report", target=TARGET, arch=ARCH)
            for config, request in zip(chosen, asked, strict=True):
                bares.append(compile_one(request))
                question = {"target": TARGET, "arch": ARCH, "config": config}
                news.append(timed(os.getpid(), lambda q=question: session.ask("report", **q)))
                again.append(timed(os.getpid(), lambda q=question: session.ask("report", **q)))
        table("bare compile", bares)
        table("new configuration, session", news, bares)
        table("asked again", again)
        with kprof.Session(jobs=1, warm=True) as session:
            session.ask("report", target=TARGET, arch=ARCH)
            for config in chosen:
                question = {"target": TARGET, "arch": ARCH, "config": config}
                cached.append(timed(os.getpid(), lambda q=question: session.ask("report", **q)))
        table("from the cache, session", cached)
        _page(chosen, asked, compile_one, cache)


def _page(
    chosen: list[dict[str, int]], asked: list[Any], compile_one: Callable[[Any], tuple[float, float]], cache: str
) -> None:
    os.environ["KPROF_CACHE_DIR"] = f"{cache}/view"
    bares, turned, again = [], [], []
    with viewed() as (root, ask):
        ask("report", {"target": 0})
        for config, request in zip(chosen, asked, strict=True):
            bares.append(compile_one(request))
            turned.append(timed(root, lambda c=config: ask("report", {"target": 0, "config": c})))
            again.append(timed(root, lambda c=config: ask("report", {"target": 0, "config": c})))
    table("knob turned, page", turned, bares)
    over = [a[0] - 1.3 * b[0] for a, b in zip(turned, bares, strict=True)]
    words = f"{1000 * statistics.median(over):6.0f} ms, worst {1000 * max(over):6.0f}"
    print(f"{'beyond 1.3 times the bare compile':34} {words}")
    table("asked again, page", again)
    with viewed() as (root, ask):
        ask("report", {"target": 0})
        kept = [timed(root, lambda c=config: ask("report", {"target": 0, "config": c})) for config in chosen]
    table("from the cache, page", kept)


if __name__ == "__main__":
    main()
