"""Predict the tuning described in the flash attention report, with AITER's own kernel of the report's date.

    git clone https://github.com/ROCm/aiter && git -C aiter checkout 9b9164d562      # the day of the report
    AITER_SOURCE=aiter .venv/bin/python validation/aiter_attention.py

Records the unmodified ``flash_attn_func`` of that checkout without a GPU, for the report's four lengths: once with
the tile in its file, once with the tile that the report chose. Both are predicted on an MI300X. The rows of the
running Triton are added to ``docs/validation/aiter_attention.json``, from which ``validation/try_sources.py`` writes a
table.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers")]
RESULTS = ROOT / "docs/validation/aiter_attention.json"
LENGTHS = (512, 1024, 2048, 4096)
FILE = "aiter/ops/triton/configs/gfx942-MHA-DEFAULT.json"
TUNED = {"BLOCK_M": 64, "BLOCK_N": 32, "PRELOAD_V": True}


def record(length: int) -> None:
    """Call AITER's attention once, without its backward pass and its package's initialisation, which builds C++."""
    import torch

    sys.path.insert(0, str(ROOT / "validation" / "programs"))
    from aiter_checkout import accept_old_autotune_keys, of

    accept_old_autotune_keys()
    for name in ("onekernel", "fused"):
        backward: Any = types.ModuleType(f"aiter.ops.triton.mha_{name}_bwd")
        setattr(backward, f"flash_attn_{name}_backward", None)
        sys.modules[backward.__name__] = backward
    attention = of("mha", "flash_attn_func")
    q, k, v = (torch.randn(4, length, 8, 256, device="cuda", dtype=torch.float16) for _ in range(3))
    attention(q, k, v, causal=True, return_lse=True)


def predicted(source: Path, length: int, folder: Path) -> dict[str, Any]:
    """Return the model's prediction for the kernel that a checkout launches."""
    import kprof

    command = [sys.executable, "-m", "kprof", "capture", "--arch", "MI300X", "-o", str(folder), "--"]
    command += [sys.executable, __file__, "--record", str(length)]
    environment = {**os.environ, "AITER_SOURCE": str(source)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    (kernel,) = kprof.analyze(str(folder), arch="MI300X").document.kernels
    model = kernel.model
    figures = {"us": model.time_us, "low": model.low_us, "high": model.high_us}
    return {
        **{name: value and round(value, 1) for name, value in figures.items()},
        "spilled": kernel.resources.vgpr_spills,
    }


def main() -> None:
    """Record and predict; in the recorded process, only call AITER's attention."""
    if sys.argv[1:2] == ["--record"]:
        record(int(sys.argv[2]))
        return
    from kprof.compiler.versions import installed

    rows = {}
    with tempfile.TemporaryDirectory() as name:
        before, after = Path(os.environ["AITER_SOURCE"]).resolve(), Path(name) / "tuned"
        shutil.copytree(before / "aiter", after / "aiter", ignore=shutil.ignore_patterns("csrc", "*.co", "*.csv"))
        knobs = json.loads((after / FILE).read_text())
        knobs["fwd"]["default"].update(TUNED)
        (after / FILE).write_text(json.dumps(knobs))
        for length in LENGTHS:
            each = {"default": before, "tuned": after}
            rows[str(length)] = {
                key: predicted(source, length, Path(name) / f"{key}{length}") for key, source in each.items()
            }
            print(length, rows[str(length)], flush=True)
    kept = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    kept[str(installed().version)] = rows
    RESULTS.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
