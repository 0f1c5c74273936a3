"""Messages without names of instructions, for who does not read assembly; with ``-v`` they are told as they are."""

import re
from typing import TYPE_CHECKING

from kprof.reporters._loop_names import without_labels

if TYPE_CHECKING:
    from rich.text import Text

    from kprof.document import KernelReport

_SHAPE = r"(?:ld_)?(?:scale_)?[a-z]+\d+_(\d+x\d+x\d+)_?(\w*)"
_WORDS = (
    (r"\bs_wait(?:cnt)?_?\w* (?:vmcnt\(0\)(?: lgkmcnt\(0\))?|0x0)", "a wait for all loads"),
    (rf"\bv_s?mfmac?_{_SHAPE}", r"MFMA \1 \2"),
    (rf"\bv_s?wmmac?_{_SHAPE}", r"WMMA \1 \2"),
    (r"\b(?:global|buffer|flat)_load_\w+", "a load"),
    (r"\b(?:global|buffer|flat)_store_\w+", "a store"),
    (r"(\d) v_exp_f(?:16|32)\b", r"\1 exponentials"),
    (r"\bv_cvt_pk_(\w+?)_(\w+) converts", r"a packed conversion of \2 to \1 converts"),
    (r"\bv_cvt_(\w+?)_(\w+)", r"conversions of \2 to \1"),
)
_MESSAGES = [(re.compile(pattern), words) for pattern, words in _WORDS]
_GLUE = "\ue000"
"""Stands for a blank at which no line ends: a character that no text has and no terminal breaks at."""

_UNITS = "%|B|[KMG]iB|[nµm]?s|VGPRs?|AGPRs?|SGPRs?|waves?"
_TOGETHER = re.compile(rf"(?<=\d) (?=(?:{_UNITS})(?!\w))|(?<=[→≤]) (?=\S)|(?<=\S) (?=[→≤])")


_PARTS = re.compile(r"(?:(?<=   )|(?<= · ))\S+(?: (?!·)\S+){1,4}(?=   | · |$)")
"""Short parts of a line between wide gaps or dots: ``900 B scratch a lane``, ``24 LDS writes``."""

_LIMITS = {"HBM": "HBM bandwidth", "launch": "the fixed cost of a call"}


def plain(message: str) -> str:
    """``64 MFMA 32x32x8 f16`` for ``64 v_mfma_f32_32x32x8_f16``; a rule's other words stay."""
    for pattern, words in _MESSAGES:
        message = pattern.sub(words, message)
    return message


def said(message: str, kernel: "KernelReport") -> str:
    """A finding's message as people are told it: loops by their lines, no names of instructions."""
    return plain(without_labels(message, kernel))


def together(text: "Text") -> "Text":
    """The same text, in which no line ends between a number and its unit, or inside a short part of a list."""
    whole = _PARTS.sub(lambda found: found[0].replace(" ", _GLUE), text.plain)
    text.plain = _TOGETHER.sub(_GLUE, whole)
    return text


def apart(printed: str) -> str:
    """What was printed, with blanks again."""
    return printed.replace(_GLUE, " ")


def limit_words(bound: str) -> str:
    """Return a limit of an operator in words.

    >>> [limit_words(bound) for bound in ("matrix_bf16", "HBM", "launch", "memory latency")]
    ['the bf16 matrix peak', 'HBM bandwidth', 'the fixed cost of a call', 'memory latency']
    """
    unit, _, dtype = bound.partition("_")
    return _LIMITS.get(bound, f"the {dtype} {unit} peak" if dtype else bound)
