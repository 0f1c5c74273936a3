"""List the tuned files that vLLM, SGLang and AITER have for public models, and write docs/validation/server_configs.md.

Each lookup is compared with the server's own code. The server's complete file is executed with replacements for all
imports from elsewhere. It must look up the same paths and read the same file as the function that kprof extracts. The
exit code is 1 if a lookup differs.

    .venv/bin/python validation/validate_server_configs.py --vllm DIR --sglang DIR --aiter DIR
"""

import argparse
import builtins
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

from kprof.inputs.model_config import read
from kprof_servers.served.devices import served_gpu
from kprof_servers.served.document import NeededFile, ServerConfigs
from kprof_servers.served.examine import ServedModel, examine
from kprof_servers.served.interface import LookupCall
from kprof_servers.served.lookup import ServerCode, ask, server_code
from kprof_servers.served.registry import server_of
from kprof_servers.served.shapes import Split, shapes_of

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "tests/artifacts/model_configs"
PAGE = ROOT / "docs/validation/server_configs.md"
GPUS = ("MI300X", "MI325X", "MI355X", "gfx1201")
BATCHES = (1, 8, 64, 512, 4096)
TRITON = "3.6.0"
GPUS_OF = {"gemma-3": 1, "qwen3-8b": 1, "qwen3-30b-a3b": 4, "qwen3-235b-a22b-fp8": 4, "glm-4.5-air": 4}
"""Number of GPUs that share a layer; models that are not listed use 8."""
SHOWN = {"vllm": "vLLM", "sglang": "SGLang", "aiter": "AITER"}
MOCKED = ("torch", "triton", "vllm", "sglang", "aiter", "regex", "pandas", "numpy")


class Stands(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Import finder that replaces these packages by objects with any attribute."""

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        """Return the spec of a replacement for a module of the packages."""
        if name.partition(".")[0] in MOCKED and name not in sys.modules:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> Any:
        """Return the replacement object."""
        module = MagicMock(name=spec.name)
        module.__path__ = []
        module.__spec__ = spec
        return module

    def exec_module(self, module: Any) -> None:
        """Execute nothing."""


def whole(file: Path, name: str) -> ModuleType:
    """Return a server's complete file, executed unchanged."""
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def oracle() -> None:
    """Process that executes complete files: calls on standard input, looked up and read paths on standard output."""
    wanted = json.load(sys.stdin)
    sys.meta_path.insert(0, Stands())
    for name in MOCKED:
        sys.modules.pop(name, None)
    root, device, arch = Path(wanted["root"]), wanted["device"], wanted["arch"]
    answers = []
    for call in wanted["calls"]:
        for name in [name for name in sys.modules if name.partition(".")[0] in MOCKED]:
            del sys.modules[name]
        prepare(root, device, arch, wanted["triton"])
        module = whole(root / call["file"], call["file"].removesuffix(".py").replace("/", "."))
        if hasattr(module, "get_device_name"):
            module.__dict__["get_device_name"] = lambda *_: device.replace("_", " ")
        module.__dict__["logger"] = MagicMock()
        answers.append(observed(getattr(module, call["function"]), call["options"]))
    json.dump(answers, sys.stdout)


def prepare(root: Path, device: str, arch: str, triton: str) -> None:
    """Set what the servers query elsewhere: the GPU's name, switches (off) and Triton's version."""
    stand: Any = importlib.import_module
    stand("triton").__version__ = triton
    stand("triton").cdiv = lambda a, b: -(-a // b)
    stand("triton").next_power_of_2 = lambda n: 1 << max(n - 1, 0).bit_length()
    stand("torch")._dynamo.is_compiling.return_value = False  # noqa: SLF001 - torch's own name
    if (root / "vllm").is_dir():
        envs, platform = stand("vllm.envs"), stand("vllm.platforms").current_platform
        envs.VLLM_BATCH_INVARIANT, envs.VLLM_TUNED_CONFIG_FOLDER = False, None
        stand("vllm.model_executor.layers.fused_moe").get_config.return_value = None
        platform.is_rocm.return_value, platform.is_cuda.return_value = True, False
        stand("vllm.utils.platform_utils").get_device_name_as_file_name.return_value = device
    if (root / "sglang").is_dir():
        utils = stand("sglang.srt.utils")
        utils.is_hip.return_value, utils.is_cuda.return_value = True, False
        stand("sglang.srt.layers.moe.moe_runner.triton_utils").get_config.return_value = None
        switches = stand("sglang.srt.runtime_context").get_exec.return_value.deterministic
        switches.enable_deterministic_inference = False
    if (root / "aiter").is_dir():
        stand("aiter.ops.triton.utils._triton").arch_info.get_arch.return_value = arch
        for name in ("core", "gemm_config_utils"):
            whole(root / f"aiter/ops/triton/utils/{name}.py", f"aiter.ops.triton.utils.{name}")


def observed(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Call a function, and record the tables that it looks up and reads."""
    asked: dict[str, None] = {}
    read: list[str] = []
    exists, opens = os.path.exists, builtins.open

    def noted(path: Any) -> bool:
        if str(path).endswith(".json"):
            asked[os.path.abspath(path)] = None  # noqa: PTH100 - links stay links
        return exists(path)

    def opening(path: Any, *rest: Any, **more: Any) -> Any:
        if str(path).endswith(".json"):
            asked[os.path.abspath(path)] = None  # noqa: PTH100 - links stay links
        file = opens(path, *rest, **more)
        read.append(os.path.realpath(path))
        return file

    os.path.exists, builtins.open = noted, opening  # type: ignore[assignment]
    try:
        # A lookup that fails also counts: without a file, the server stops there.
        with contextlib.suppress(AssertionError, KeyError, OSError):
            function(**options)
    finally:
        os.path.exists, builtins.open = exists, opens
    return {"asked": list(asked), "opened": next((name for name in reversed(read) if name.endswith(".json")), None)}


def compared(asked: ServedModel, code: ServerCode, device: str) -> tuple[int, list[str]]:
    """Yield calls with the differences between the complete file and the extracted function."""
    needs = asked.server.needed(shapes_of(asked.model, asked.split, asked.weights), asked.weights, asked.batches)
    calls = [call for need in needs for call in need.calls.values()]
    if not calls:
        return 0, []
    mine = ask(code, calls, device=device, arch=asked.gpu.arch, triton=TRITON)
    theirs = run_oracle(code, calls, device, asked.gpu.arch)
    wrong = [
        f"{call.function}({dict(call.options)}): {their} and not {list(my.asked)}, {my.opened}"
        for call, my, their in zip(calls, mine, theirs, strict=True)
        if (list(my.asked), my.opened) != (their["asked"], their["opened"])
    ]
    return len(calls), wrong


def run_oracle(code: ServerCode, calls: Sequence[LookupCall], device: str, arch: str) -> list[dict[str, Any]]:
    """Return the answers of complete files."""
    wanted = [
        {
            "file": next(file for file in call.files if (code.root / file).is_file()),
            "function": call.function,
            "options": dict(call.options),
        }
        for call in calls
    ]
    question = {"root": str(code.root), "device": device, "arch": arch, "triton": TRITON, "calls": wanted}
    ran = subprocess.run(
        [sys.executable, __file__, "--oracle"], input=json.dumps(question), capture_output=True, text=True, check=False
    )
    if ran.returncode:
        sys.exit(ran.stderr)
    return list(json.loads(ran.stdout))


def rows(code: dict[str, ServerCode]) -> Iterator[tuple[str, ServerConfigs, int, list[str]]]:
    """Yield each model on each server and GPU, with the result of the comparison."""
    for model in sorted(path for path in MODELS.iterdir() if path.is_dir()):
        for server, place in code.items():
            for gpu in GPUS:
                sizes = read(model)
                asked = ServedModel(
                    model=sizes,
                    server=server_of(server),
                    gpu=served_gpu(gpu),
                    split=Split(GPUS_OF.get(model.name, 8)),
                    weights=sizes.weights,
                    batches=BATCHES,
                    code=place,
                    triton=TRITON,
                )
                found = examine(asked)
                yield model.name, found, *compared(asked, place, found.device)


def page(code: dict[str, ServerCode], every: list[tuple[str, ServerConfigs, int, list[str]]]) -> str:
    """Return the whole page."""
    calls = sum(count for _, _, count, _ in every)
    versions = ", ".join(f"{SHOWN[server]} {place.version}" for server, place in code.items())
    batches = ", ".join(map(str, BATCHES))
    lines = [
        "# Tuned files of servers for public models",
        "",
        f"Written by `validation/validate_server_configs.py`. Servers: {versions}; Triton {TRITON}; {batches} rows.",
        "The models' configurations are in `tests/artifacts/model_configs`, with sources; weights as in the files.",
        "",
        f"Each of the {calls:,} lookups was made twice: by the function that `kprof configs` takes out of the server's",
        "code, and by executing the server's whole file with stand-ins for all that it imports. All of them ask for",
        "the same paths in the same order and read the same file. AITER's CSV tables are read by kprof's own rule and",
        "are not among them.",
        "",
        '"There" is a file for the shape itself, "replaced" one for another version of Triton or for all shapes,',
        '"missing" the default in the code. "Other name" counts those of the missing that lie there under another name',
        "of the GPU.",
        "",
        "| model | GPUs | weights | server | on | needed | there | replaced | missing | other name |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for model, found, _, _ in every:
        counts = Counter(file.status for file in found.needed)
        missing = [file for file in found.needed if file.status in {"default", "none"}]
        cells = (
            model, found.tp, found.weights, SHOWN[found.server], found.gpu, len(found.needed), counts["exact"],
            counts["fallback"], len(missing), sum(bool(file.others) for file in missing),
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    lines += ["", "## What is missing on the MI300X", ""]
    for model, found, _, _ in every:
        names = [shown(file) for file in found.needed if file.status in {"default", "none"}]
        if found.gpu == "MI300X" and names:
            lines.append(f"- {model}, {SHOWN[found.server]}: {', '.join(names)}")
    return "\n".join([*lines, ""])


def shown(file: NeededFile) -> str:
    """Return a file's name; for a table, also whether its lines are missing."""
    sizes = ",".join(f"{name}={value}" for name, value in file.shape.items())
    return f"`{file.name}`" + (f" ({sizes})" if file.name.endswith(".csv") else "")


def main() -> int:
    """Write the page; the exit code is 1 if a lookup differs from the server's own."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in SHOWN:
        parser.add_argument(f"--{name}", required=True, help="a checkout, or the folder that it is installed in")
    given = vars(parser.parse_args())
    code = {name: place for name in SHOWN if (place := server_code(server_of(name), given[name])) is not None}
    every = list(rows(code))
    wrong = [line for *_, lines in every for line in lines]
    if wrong:
        print("\n".join(wrong[:20]), f"\n{len(wrong)} lookups differ", file=sys.stderr)
        return 1
    PAGE.write_text(page(code, every), encoding="utf-8")
    print(f"{sum(count for _, _, count, _ in every):,} lookups as the servers' own; {PAGE.relative_to(ROOT)} written")
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--oracle"]:
        oracle()
    else:
        sys.exit(main())
