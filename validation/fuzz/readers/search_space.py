"""Search spaces and lists of sizes for ``kprof tune``. The first byte says the form: TOML, YAML or JSON."""

from pathlib import Path

from kprof.errors import KprofError
from kprof.tuning import problems, space_file
from validation.fuzz.target import Target, put

_FORMS = ("s.toml", "s.yaml", "s.json")


def read(data: bytes, folder: Path) -> None:
    """As a space, and as sizes."""
    path = str(put(folder, _FORMS[data[0] % 3 if data else 0], data[1:]))
    try:
        problems.read_shapes(path)
    except KprofError:
        space_file.read(path)


TARGET = Target(
    read,
    words=(
        "BLOCK_M",
        "num_warps",
        "constraints",
        ": [",
        " = [",
        "- {M: ",
        "<=",
        "*",
        "cdiv(",
        "rowMajorA",
        "---",
        "!!",
    ),
    runs=150,
)
