"""Split an instruction's text into operands and modifiers, and operands into registers."""

import re
from functools import lru_cache

_TOKEN = re.compile(r"(?:[^\s,\[\]()]|\[[^\]]*\]?|\((?:[^()]|\([^()]*\))*\)?|[\])])+|,")
# gfx1250 assembly contains the low byte of a register number, and the full number in a comment: v0 /*v256*/
_HIGH_VGPR = re.compile(r"v(?:\d+|\[\d+:\d+\])(\.[lh])?\s*/\*(v(?:\d+|\[\d+:\d+\]))(?:\.[lh])?\*/")
# Most instructions have only registers and numbers followed by simple modifiers. One regular expression parses them,
# which is faster than the loop that handles arbitrary text.
_OPERAND = r"-?(?:[vsa](?:[0-9]+|\[[0-9]+:[0-9]+\])|[0-9]+|0x[0-9a-f]+|vcc|exec|off)"
_MODIFIER = r"(?![vsa][0-9]|off\b)[a-z][a-z0-9_]*(?::(?:[a-z0-9_]+|\[[0-9,]+\]))?"
_PLAIN = re.compile(rf" ({_OPERAND}(?:, {_OPERAND})*)((?: {_MODIFIER})*)").fullmatch
_C_COMMENT = re.compile(r"/\*.*?\*/")
_FLAGS = frozenset(
    [
        "glc",
        "slc",
        "dlc",
        "scc",
        "sc0",
        "sc1",
        "nt",
        "nv",
        "lds",
        "gds",
        "tfe",
        "lwe",
        "da",
        "unorm",
        "r128",
        "a16",
        "d16",
        "offen",
        "idxen",
        "addr64",
        "clamp",
        "done",
        "vm",
        "compr",
        "row_en",
        "high",
        "noret",
    ]
)


def split(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the operands in order and the modifiers by name from the text that follows a mnemonic.

    A modifier without value maps to an empty string. Wait counts such as ``vmcnt(0)`` are operands.
    """
    plain = _PLAIN(text)
    if plain is None:
        return _split_any(text)
    modifiers: dict[str, str] = {}
    for word in plain[2].split():
        _add_modifier(modifiers, word)
    return tuple(plain[1].split(", ")), modifiers


def _split_any(text: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Split any text as :func:`split` does, but without the fast regular expression."""
    if "/*" in text:
        text = _C_COMMENT.sub("", _HIGH_VGPR.sub(lambda m: m[2] + (m[1] or ""), text))
    operands: list[str] = []
    modifiers: dict[str, str] = {}
    fresh = True
    for word in _TOKEN.findall(text):
        if word == ",":
            fresh = True
        elif fresh:
            fresh = False
            # "ds_append v1 offset:4" has operands; "buffer_wbl2 sc0 sc1" and "ds_nop offset:1" have only modifiers. As
            # the first word, "a16" is AGPR 16; after image addresses it is a modifier.
            if not operands and ((word in _FLAGS and word != "a16") or _has_value(word)):
                _add_modifier(modifiers, word)
            else:
                operands.append(word)
        elif word in {"|", "&"}:
            fresh = True
        elif _has_value(word) or word in _FLAGS:
            _add_modifier(modifiers, word)
        elif operands and (_looks_like_register(word) or word == "off"):
            operands.append(word)  # In ``exp mrt0 v0, v1, off, off``, no comma precedes v0.
        elif operands and ("(" in word and word[0].isalpha()):
            operands.append(word)  # In ``s_waitcnt vmcnt(0) lgkmcnt(0)``, blanks separate the counts.
        else:
            _add_modifier(modifiers, word)
    return tuple(operands), modifiers


def _has_value(token: str) -> bool:
    name, colon, _ = token.partition(":")
    return bool(colon) and name.replace("_", "a").isalnum() and name[0].isalpha() and "[" not in name


def _add_modifier(modifiers: dict[str, str], token: str) -> None:
    name, _, value = token.partition(":")
    modifiers[name] = value


def _looks_like_register(token: str) -> bool:
    return token[0] in "vsa" and (token[1:].isdecimal() or token[1:2] == "[")


_REGISTER = re.compile(r"(v|s|a|acc|ttmp)(?:(\d+)|\[(\d+)(?::(\d+))?\])$")
_PAIRS = {
    "vcc": ("vcc_lo", "vcc_hi"),
    "exec": ("exec_lo", "exec_hi"),
    "flat_scratch": ("flat_scratch_lo", "flat_scratch_hi"),
    "xnack_mask": ("xnack_mask_lo", "xnack_mask_hi"),
    "tba": ("tba_lo", "tba_hi"),
    "tma": ("tma_lo", "tma_hi"),
}
_SINGLE = frozenset({"m0", "scc", "vccz", "execz"} | {half for pair in _PAIRS.values() for half in pair})
_SOURCES = {"src_scc": "scc", "src_vccz": "vccz", "src_execz": "execz"}
_WRAPPERS = ("abs(", "neg(", "sext(")
_MAX_RANGE = 1024


@lru_cache(maxsize=8192)
def registers(operand: str) -> tuple[str, ...]:
    """Return the registers that an operand names, lowest first; empty for constants, labels and ``off``.

    Negation, absolute value, ``sext`` and ``.l`` and ``.h`` suffixes are stripped first. A range that no hardware has
    (reversed or over 1024 registers) yields no registers.
    """
    text = operand.strip("-|")
    while text.startswith(_WRAPPERS):
        text = text.partition("(")[2].rstrip(")").strip("-|")
    if text.endswith((".l", ".h")):
        text = text[:-2]
    match = _REGISTER.match(text)
    if match is not None:
        kind = "a" if match[1] == "acc" else match[1]
        if match[2] is not None:
            return (f"{kind}{int(match[2])}",) if len(match[2]) < 5 else ()
        first, last = match[3], match[4] or match[3]
        if len(first) > 4 or len(last) > 4 or not 0 <= int(last) - int(first) < _MAX_RANGE:
            return ()
        return tuple(f"{kind}{n}" for n in range(int(first), int(last) + 1))
    if text in _PAIRS:
        return _PAIRS[text]
    if text in _SINGLE:
        return (text,)
    if text in _SOURCES:
        return (_SOURCES[text],)
    if text.startswith("[") and text.endswith("]"):
        names: list[str] = []
        for part in text[1:-1].split(","):
            if "[" not in part:
                names.extend(registers(part.strip()))
        return tuple(names)
    return ()
