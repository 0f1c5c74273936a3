"""Repeat public requests for tuned files as a user would, and write docs/validation/server_issues.md.

    python validation/validate_server_issues.py --vllm DIR --sglang DIR --aiter DIR [--trials 24]

server_issues.toml next to this file lists the requests with their addresses and shapes. Each is passed to ``kprof
configs --rank``, and the proposal is compared with the file that the server has by now for the same shape.
"""

import argparse
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

import tomllib

import kprof
from kprof_servers.served.document import NeededFile, PredictedConfig, ServerConfigs
from kprof_servers.served.interface import NeededLookup
from kprof_servers.served.ranking import Ranker

RANKED = Ranker.ranked
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/server_issues.md"
BATCHES = (1, 64, 4096)
_TILE = ("BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K")
_SAID = {"exact": "there", "fallback": "replaced by another", "default": "missing", "none": "missing"}


def asked(issue: Mapping[str, Any], server: Path, trials: int) -> ServerConfigs:
    """Return the answer of ``kprof configs`` to a request."""
    data = json.loads((ROOT / "tests/artifacts/model_configs" / issue["model"] / "config.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.json").write_text(json.dumps(data | issue.get("sizes", {})))
        with patch.object(Ranker, "ranked", lambda ranker, need, file, device: _one(ranker, need, file, device, issue)):
            return kprof.server_configs(
                folder, server=issue["server"], server_path=server, batches=BATCHES, rank=True, trials=trials,
                **issue["asks"],
            ).document  # fmt: skip


def _one(ranker: Ranker, need: NeededLookup, file: NeededFile, device: str, issue: Mapping[str, Any]) -> NeededFile:
    """Rank only the requested file among all files of the model."""
    return RANKED(ranker, need, file, device) if file.name == issue["file"] else file


def section(issue: Mapping[str, Any], found: ServerConfigs, server: Path) -> Iterator[str]:
    """Return the page's lines about a request."""
    owner, name, _, number = issue["address"].split("/")[3:]
    yield f"## [{owner}/{name}#{number}]({issue['address']}), {issue['state']}\n"
    options = " ".join(f"--{key.replace('_', '-')} {_quoted(value)}" for key, value in issue["asks"].items())
    yield f"{issue['says']} {issue.get('assumed', '')}".rstrip() + "\n"
    yield f"`kprof configs {issue['model']}/ --server {issue['server']} {options} --rank`\n"
    file = next((each for each in found.needed if each.name == issue["file"]), None)
    if file is None:
        yield f"**Not found**: `{issue['file']}` is not among the {len(found.needed)} files that kprof names.\n"
        same = [each for each in found.needed if each.name.rpartition("-N=")[0] == issue["file"].rpartition("-N=")[0]]
        counts = [
            f"{sum(_SAID[each.status] == said for each in same)} {said}" for said in dict.fromkeys(_SAID.values())
        ]
        if same:
            yield f"Of the same family it names {len(same)}: {', '.join(counts)}.\n"
        return
    yield f"Found: `{file.name}`, {_SAID[file.status]}" + (f" (`{file.opened}`)" if file.opened else "") + ".\n"
    yield from _ranked(file, server / issue["merged"] if "merged" in issue else None)


def _ranked(file: NeededFile, merged: Path | None) -> Iterator[str]:
    if not file.ranked:
        yield f"No proposal: {file.unranked or 'kprof ranks no kernels of this server'}.\n"
        return
    buckets = {} if merged is None else json.loads(merged.read_text())
    yield "| rows | runs | proposal |" + (" merged |" if buckets else "")
    yield "|---|---|---|" + ("---|" if buckets else "")
    for batch in file.ranked:
        row = f"| {batch.rows:,} | {_shown(batch.runs)} | {_shown(batch.best)} |"
        if buckets:
            nearest = min((key for key in buckets if key.isdecimal()), key=lambda key: abs(int(key) - batch.rows))
            row += f" {_knobs(buckets[nearest])} |"
        yield row
    yield f"\nThe proposal rests on {file.basis}.\n"


def _shown(one: PredictedConfig | None) -> str:
    return "not predicted" if one is None else f"{_knobs(one.config)}: {one.time_us:,.0f} µs"


def _knobs(config: Mapping[str, Any]) -> str:
    tile = " x ".join(str(config.get(name, "?")) for name in _TILE)
    return f"{tile}, {config['num_warps']} wavefronts" if "num_warps" in config else tile


def _quoted(value: Any) -> str:
    return f'"{value}"' if " " in str(value) else str(value)


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("vllm", "sglang", "aiter"):
        parser.add_argument(f"--{name}", type=Path, required=True, help=f"the folder that the package {name} is in")
    parser.add_argument("--trials", type=int, default=24, help="configurations where no tuned file helps")
    given = parser.parse_args()
    issues = tomllib.loads(Path(__file__).with_name("server_issues.toml").read_text())["issue"]
    lines = [_HEAD]
    for issue in issues:
        server = getattr(given, issue["server"])
        lines += section(issue, asked(issue, server, given.trials), server)
    PAGE.write_text("\n".join([*lines, _TAIL]))


_HEAD = """# Public requests for tuned files, repeated

Written by `validation/validate_server_issues.py`. Servers: vLLM 0.33.0, SGLang 0.5.23, AITER e4048607a5. Times are the
model's, of both products of a mixture of experts, for Triton 3.9.0; none was measured here. A tile is rows x columns x
depth; "?" is what the server's default leaves to its launcher.
"""

_TAIL = """## What it says

The file that each of the five asks for is found missing or replaced, under the name that the server asks for.

One shape has a file by now, vLLM's for the R9700. The launcher cuts its depth of 256 to the block of 128: the proposals
have its tile at all three sizes, and its wavefronts at two. The model calls them slower than the default, which is one
more case where the votes of other files know better than the model.

For SGLang's request the default is the one that it names. The model has it as flat as was measured, from 2.3 ms with
128 rows to 2.5 ms with 2,048, but at a quarter of the measured time: of weights that are unpacked inside the kernel it
knows too little. On gfx1151 nothing but the name is repeated: no time was published, and the model prefers the default
to what the only other file suggests.

For AITER on gfx1201 the votes are those of its other files for gfx1201; the request was not merged, so that nothing
stands beside them. On gfx1250 the router's product falls back to the file for all shapes, as the request says; what
was merged is not in the checkout. No proposal is made there: AITER takes Gluon's kernels, which kprof does not
launch.

sgl-project/sglang#22208 is not among them: what it says was not to be had.
"""

if __name__ == "__main__":
    main()
