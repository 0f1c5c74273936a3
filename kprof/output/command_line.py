"""The current command line with an added option, for hints."""

import shlex
import sys
from pathlib import Path


def with_option(option: str) -> str:
    """Return the current command line with a further option, placed before a program after ``--``.

    >>> with_option("--verify")  # doctest: +SKIP
    'kprof tune gemm --arch MI300X --verify'
    """
    if Path(sys.argv[0]).name.removesuffix(".exe") not in {"kprof", "__main__.py"}:
        return f"the same call with {option}"
    words = sys.argv[1:]
    place = words.index("--") if "--" in words else len(words)
    return shlex.join(["kprof", *words[:place], *option.split(), *words[place:]])
