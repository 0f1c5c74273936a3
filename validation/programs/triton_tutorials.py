"""triton ($TRITON_SOURCE): Triton's tutorials 01 to 05 and 07 to 10 as that checkout has them, benchmarks included."""

import os
import runpy
import sys
from pathlib import Path

folder = Path(os.environ["TRITON_SOURCE"]) / "python" / "tutorials"
os.environ["MPLBACKEND"] = "agg"
# As the tutorials' last lines, but with one size instead of seventeen.
ARGUMENTS = {"09": ["-K", "512", "--prec", "fp16"], "10": ["--format", "mxfp4", "-K", "8192", "--bench"]}
for path in sorted(folder.glob("[01][0-9]-*.py")):
    # Tutorial 06 has its own row; 11 is for another vendor's GPUs.
    if path.name.startswith(("06", "11")) or path.stem.endswith("-cpu"):
        continue
    sys.argv = [str(path), *ARGUMENTS.get(path.name[:2], [])]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except BaseException as error:  # noqa: BLE001  # one tutorial's failure is a line of the page
        print(f"failed {path.stem}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
