"""triton ($TRITON_SOURCE): Triton's tutorials 01 to 05, 07 and 08 as that checkout has them, benchmarks included."""

import os
import runpy
import sys
from pathlib import Path

folder = Path(os.environ["TRITON_SOURCE"]) / "python" / "tutorials"
os.environ["MPLBACKEND"] = "agg"
for path in sorted(folder.glob("[01][0-9]-*.py")):
    # 06, 09 and 10 have hundreds of configurations to compile; 11 is for another vendor's GPUs.
    if path.name.startswith(("06", "09", "10", "11")) or path.stem.endswith("-cpu"):
        continue
    sys.argv = [str(path)]
    try:
        runpy.run_path(str(path), run_name="__main__")
    except BaseException as error:  # noqa: BLE001  # one tutorial's failure is a line of the page
        print(f"failed {path.stem}: {type(error).__name__}: {(str(error) or '-').splitlines()[0][:160]}")
