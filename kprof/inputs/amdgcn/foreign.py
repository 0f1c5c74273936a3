"""Telling apart what is handed in as assembly but is something else."""

import re

from kprof.errors import InputError

_HEAD = 65536
_SIGNS: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"^\s*\.(?:target\s+sm_|visible\s+\.(?:entry|func)|address_size\s+\d)", re.MULTILINE),
        "this is PTX for NVIDIA, not AMDGCN",
        "Compile for an AMD target, for example --arch gfx942.",
    ),
    (
        re.compile(r"\.headerflags\s+@|\.nv\.info|EF_CUDA_SM|^\s*/\*[0-9a-f]{4}\*/\s+[A-Z]", re.MULTILINE),
        "this is SASS for NVIDIA, not AMDGCN",
        "Compile for an AMD target, for example --arch gfx942.",
    ),
    (
        re.compile(r"^(?:; ModuleID = |target triple = |target datalayout = |define [^\n]*@[^\n]*\{)", re.MULTILINE),
        "this is LLVM IR, not AMDGCN assembly",
        "Give the .amdgcn file that lies beside the .llir.",
    ),
    (
        re.compile(
            r"^\s*(?:module(?: attributes)? ?\{|module @\w+|tt\.func |#\w+ = #(?:ttg|triton_gpu|loc)\b)", re.MULTILINE
        ),
        "this is MLIR, not AMDGCN assembly",
        "Give the .amdgcn file that lies beside the .ttgir; kprof ingest mlir reads it alone.",
    ),
    (
        re.compile(r"\A\s*\{\s*\"(?:kprof\": ?\"\d|schema\": ?\"kprof\.)"),
        "this is a document that kprof wrote, not a kernel",
        "kprof report FILE -o page.html shows a saved report, kprof diff OLD NEW compares two.",
    ),
    (
        re.compile(r"\A\s*[\[{]\s*[\"{\[]"),
        "this is JSON, not AMDGCN assembly",
        "Give the .amdgcn file that lies beside it.",
    ),
)
_MNEMONIC = re.compile(
    r"^\s+(?:s_(?:endpgm|waitcnt|load_|mov_|branch|and_)|v_(?:mov|add|mul|lshl)|global_(?:load|store))", re.MULTILINE
)


def refuse_foreign(text: str, path: str | None) -> None:
    """Raise when the text is plainly not AMDGCN assembly.

    Raises:
        KprofError: it is empty, binary, PTX, SASS, LLVM IR, MLIR or JSON; the message says which.
    """
    if not text.strip():
        raise InputError("the file is empty", path=path)
    if text.startswith(("\x7fELF", "__CLANG_OFFLOAD_BUNDLE__", "CCOB")):
        raise InputError("this is a code object, not assembly text", path=path, hint="Read it as a .hsaco.")
    head = text[:_HEAD]
    # Clang may write a zero byte into a comment, so that one alone proves nothing.
    if _MNEMONIC.search(head):
        return
    zero = head.find("\0")
    if zero >= 0:
        raise InputError("this is binary data, not assembly text", path=path, place=f"byte {zero}")
    for pattern, message, hint in _SIGNS:
        match = pattern.search(head)
        if match is not None:
            line = head.count("\n", 0, match.end()) + 1
            raise InputError(message, path=path, place=f"line {line}", hint=hint)
