"""Add an option to the current command line, for hints that can be pasted."""

import shlex
import sys
from pathlib import Path


def with_option(option: str) -> str:
    """Return the current command line with another option, which is inserted before ``--`` if a program follows.

    >>> with_option("--verify")  # doctest: +SKIP
    'kprof tune gemm --arch MI300X --verify'
    """
    if Path(sys.argv[0]).name.removesuffix(".exe") not in {"kprof", "__main__.py"}:
        return f"the same call with {option}"
    words = sys.argv[1:]
    place = words.index("--") if "--" in words else len(words)
    return shlex.join(["kprof", *words[:place], *option.split(), *words[place:]])
