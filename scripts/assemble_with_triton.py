"""Assemble text with the assembler inside the running interpreter's Triton (3.9 and later).

    python scripts/assemble_with_triton.py gfx1250 IN.s OUT.o

Started by ``check_isa_reader.py`` for text that no installed llvm-mc is new enough to assemble.
"""

import sys
from pathlib import Path

from triton.backends.amd.compiler import assemble_amdgcn


def main() -> None:
    """Assemble one file."""
    arch, source, target = sys.argv[1:]
    Path(target).write_bytes(assemble_amdgcn(Path(source).read_text("utf-8", "surrogateescape"), arch, ""))


if __name__ == "__main__":
    main()
