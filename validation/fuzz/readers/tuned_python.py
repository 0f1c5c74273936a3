"""Lists of ``triton.Config`` in Python files, which are parsed and not run."""

from pathlib import Path

from kprof_servers.configs.lint import lint
from kprof_servers.configs.reading import gather
from validation.fuzz.target import Target, put


def read(data: bytes, folder: Path) -> None:
    """Every check, on one file."""
    found = gather([str(put(folder, "kernel.py", data))])
    lint(found.files)
    if found.problems:
        raise found.problems[0]


TARGET = Target(read, words=("triton.Config({", "num_warps=", "num_stages=", "@triton.autotune(configs=[", "key=["))
