"""Hash assembly listings so that two listings with the same machine code get the same hash."""

import hashlib
import re

_NOISE = re.compile(
    rb"[ \t]*;[^\n]*"
    rb"|^[ \t]*\.(?:loc|file|ident|cfi_[a-z_]+)\b[^\n]*$"
    rb"|^\.?L(?:tmp|func_begin|func_end|debug_|info_)\w*:",
    re.MULTILINE,
)
_DEBUG_SECTION = re.compile(rb"^[ \t]*\.section[ \t]+\.debug_[^\n]*$", re.MULTILINE)


def code_hash(assembly: str) -> str:
    """Return the SHA-256 of the assembly, ignoring comments, debug information and the kernel's name."""
    text = assembly.encode()
    name = re.search(rb"^[ \t]*\.amdhsa_kernel[ \t]+(\S+)", text, re.MULTILINE)
    debug = _DEBUG_SECTION.search(text)
    metadata = text.find(b".amdgpu_metadata")
    kept = text[: debug.start()] + (text[metadata:] if metadata > debug.start() else b"") if debug else text
    if name is not None:
        kept = kept.replace(name[1], b"kernel")
    lines = (line.strip() for line in _NOISE.sub(b"", kept).splitlines())
    return hashlib.sha256(b"\n".join(line for line in lines if line)).hexdigest()
