"""Configuration of ``kprof check`` in TOML."""

from pathlib import Path

from kprof.gate.config import load
from validation.fuzz.target import Target, put


def read(data: bytes, folder: Path) -> None:
    """``kprof.toml``, and the same text as ``pyproject.toml``, whichever it is."""
    load(put(folder, "pyproject.toml" if b"tool" in data else "kprof.toml", data))


TARGET = Target(
    read,
    words=("[tool.kprof]", "[[tool.kprof.kernel]]", "[budget]", "[[kernel]]", "target = ", "arch = [", "max_vgpr_spills = ",
           "[[allow]]", "reason = ", "[[program]]", "command = [", "require = ["),
)  # fmt: skip
