"""triton ($TRITON_SOURCE): Triton's tutorial 06, fused attention, as that checkout has it, benchmarks included."""

import os
import runpy
import sys
from pathlib import Path

os.environ["MPLBACKEND"] = "agg"
path = Path(os.environ["TRITON_SOURCE"]) / "python" / "tutorials" / "06-fused-attention.py"
sys.argv = [str(path)]
try:
    runpy.run_path(str(path), run_name="__main__")
except BaseException as error:  # noqa: BLE001  # a line of the page
    print(f"failed {path.stem}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
