"""Tuned configurations of vLLM, AITER and SGLang: read and checked."""

from pathlib import Path

from kprof_servers.configs.lint import lint
from kprof_servers.configs.reading import gather
from validation.fuzz.target import Target, put

_NAME = "E=8,N=14336,device_name=AMD_Instinct_MI300X.json"


def read(data: bytes, folder: Path) -> None:
    """Every check, on one file."""
    found = gather([str(put(folder, _NAME, data))])
    lint(found.files)
    if found.problems:
        raise found.problems[0]


TARGET = Target(
    read,
    words=('"BLOCK_SIZE_M": ', '"BLOCK_SIZE_N": ', '"GROUP_SIZE_M": ', '"num_warps": ', '"num_stages": ', '"kpack": ', '"1": {',
           '"matrix_instr_nonkdim": ', '"waves_per_eu": ', "128"),
)  # fmt: skip
