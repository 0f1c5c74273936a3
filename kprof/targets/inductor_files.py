"""What torch.compile's Inductor leaves in its debug directories: generated Python, read as text and never imported.

``torch_compile_debug/run_*/torchinductor/model_*/output_code.py`` and the files of the cache hold the sources of Triton
kernels as texts in calls of ``async_compile.triton``; what was compiled lies in Triton's cache below
``TORCHINDUCTOR_CACHE_DIR``, in ``triton/<device>/<hash>``.
"""

import os
import re
from pathlib import Path

from kprof.inputs.opening import head_of

_KERNEL = re.compile(rb"async_compile\.triton\(\s*'([A-Za-z_]\w{0,200})'")
_MAX_BYTES = 16 * 1024 * 1024
_MAX_FILES = 20_000


def kernels_below(root: Path) -> list[str]:
    """Names of the Triton kernels whose source stands in generated files below a directory, in their order."""
    names: dict[str, None] = {}
    count = 0
    for folder, folders, files in os.walk(root, followlinks=False):
        folders.sort()
        for name in sorted(files):
            path = Path(folder, name)
            count += 1
            if count > _MAX_FILES:
                return list(names)
            if name.endswith(".py") and not path.is_symlink():
                names |= dict.fromkeys(_names(path))
    return list(names)


def _names(path: Path) -> list[str]:
    return [match.decode() for match in _KERNEL.findall(head_of(path, _MAX_BYTES))]
