"""Write kprof/inputs/amdgcn/mnemonics.txt from the assemblers' own tables.

An LLVM library with the AMDGPU target contains the mnemonics that its assembler accepts as one table of length-prefixed
names. This script finds the table in each named file and writes the union.

    python validation/list_mnemonics.py libLLVM.so.19.1 libLLVM.so.22.1 libtriton.so libtriton_amd_codegen.so
"""

import argparse
import mmap
import re
import sys
from pathlib import Path

OUTPUT = Path(__file__).parent.parent / "kprof" / "inputs" / "amdgcn" / "mnemonics.txt"
HEADER = """\
# Mnemonics that LLVM's assembler accepts for some AMD GPU, without the suffixes _e32, _e64, _dpp and _sdwa.
# Written by validation/list_mnemonics.py from: {sources}
"""
# A name that every LLVM since gfx10 has, in the middle of the table.
PROBE = b"\x0ebuffer_gl0_inv"
NAME = re.compile(rb"[a-z][a-z0-9_]*")


def table(path: Path) -> list[str]:
    """Return the mnemonics in one library.

    Raises:
        SystemExit: the library contains no such table.
    """
    best: list[str] = []
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        at = data.find(PROBE)
        while at >= 0:
            names = walk(data, first(data, at))
            best = max(best, names, key=len)
            at = data.find(PROBE, at + 1)
    if not best:
        sys.exit(f"{path}: no mnemonic table of the AMDGPU assembler")
    return best


def first(data: mmap.mmap, at: int) -> int:
    """Return the start of the table that has an entry at ``at``."""
    while True:
        for length in range(2, 64):
            before = at - 1 - length
            if before >= 0 and data[before] == length and NAME.fullmatch(data[before + 1 : at]):
                at = before
                break
        else:
            return at


def walk(data: mmap.mmap, at: int) -> list[str]:
    """Yield the entries from ``at`` to the end of the table."""
    names = []
    while NAME.fullmatch(name := data[at + 1 : at + 1 + data[at]]):
        names.append(name.decode("ascii"))
        at += 1 + len(name)
    return names


def main() -> None:
    """Read the libraries named on the command line and write the list."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", nargs="+", type=Path)
    parser.add_argument("--sources", default="", help="what to write into the header, for example 'LLVM 19.1.7'")
    arguments = parser.parse_args()
    names: set[str] = set()
    for library in arguments.library:
        found = table(library)
        print(f"{library}: {len(found)} mnemonics, {len(set(found) - names)} of them new")
        names |= set(found)
    # kprof removes suffixes before it looks up a mnemonic.
    names = {re.sub(r"_e(32|64)$", "", name) for name in names}
    sources = arguments.sources or ", ".join(library.name for library in arguments.library)
    OUTPUT.write_text(HEADER.format(sources=sources) + "\n".join(sorted(names)) + "\n", "ascii")
    print(f"{OUTPUT}: {len(names)} mnemonics")


if __name__ == "__main__":
    main()
