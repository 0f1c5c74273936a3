"""Assemble text with the assembler inside the running interpreter's Triton (3.9 and later).

    python validation/assemble_with_triton.py gfx1250 IN.s OUT.o

Started by ``check_isa_reader.py`` for text that no installed llvm-mc is new enough to assemble.
"""

import argparse
from pathlib import Path


def main() -> None:
    """Assemble one file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("arch")
    parser.add_argument("source", type=Path, metavar="IN.s")
    parser.add_argument("target", type=Path, metavar="OUT.o")
    options = parser.parse_args()
    from triton.backends.amd.compiler import assemble_amdgcn

    text = options.source.read_text("utf-8", "surrogateescape")
    options.target.write_bytes(assemble_amdgcn(text, options.arch, ""))


if __name__ == "__main__":
    main()
