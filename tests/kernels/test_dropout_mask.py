"""All kernels with dropout drop the same weights: both forward kernels and both backward ones.

Run in Triton's interpreter, with inputs from which each result shows the mask.
"""

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# All scores are equal, so a weight is either 0 or one number. With unit matrices a result is the weights themselves.
# With ones as values and gradients, a score's gradient is positive where the weight is kept, else negative.
PROGRAM = """
import json
import torch
from kprof.bench.interpreter import mend_interpreter
from kprof.targets import library

mend_interpreter()
both, forward = library.load("attention_forward_backward"), library.load("flash_attention")
shape = {"B": 2, "H": 2, "HK": 2, "SQ": 24, "SK": 32, "D": 32, "causal": False, "dtype": "fp32", "dropout": 0.5}
config = both.configure("gfx942", both.checks["dropout"].config)
q, eye, ones = torch.zeros(2, 2, 24, 32), torch.eye(32).expand(2, 2, 32, 32).contiguous(), torch.ones(2, 2, 32, 32)
unit = both.run({"q": q, "k": eye, "v": eye, "dout": eye[:, :, :24].contiguous()}, shape, config)
flat = both.run({"q": q, "k": eye, "v": ones, "dout": ones[:, :, :24].contiguous()}, shape, config)
shape |= {"lse": False, "layout": "bhsd"}
alone = forward.run({"q": q, "k": eye, "v": eye}, shape, forward.configure("gfx942", forward.checks["full"].config))
masks = {
    "forward": alone["out"] != 0,
    "forward with gradients": unit["out"] != 0,
    "by keys": unit["dv"].transpose(-1, -2)[:, :, :24] != 0,
    "by queries": flat["dq"] > 0,
}
print(json.dumps({name: mask.int().flatten().tolist() for name, mask in masks.items()}))
"""


@pytest.mark.triton
def test_forward_and_backward_kernels_drop_the_same_weights() -> None:
    """Half of the weights, and the same half in each kernel, whatever its tile."""
    for module in ("triton", "torch", "numpy"):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": str(ROOT)}

    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=False, timeout=300
    )

    assert done.returncode == 0, done.stderr
    masks = json.loads(done.stdout.splitlines()[-1])
    assert all(mask == masks["forward"] for mask in masks.values())
    kept = sum(masks["forward"]) / len(masks["forward"])
    assert 0.45 < kept < 0.55
