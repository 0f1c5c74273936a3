"""Syntax highlighting of source, MLIR, LLVM IR and assembly, as classified pieces of text without markup."""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pygments.lexer import Lexer

Piece = tuple[str, str]
"""Class and text of a piece. Classes are those of :data:`pygments.token.STANDARD_TYPES` (``k``; "" for plain text)."""

_LONGEST = 2000


def pieces(lines: Sequence[str], language: str) -> list[list[Piece]]:
    """Split lines into classified pieces, one list per line. Lines are cut after 2,000 characters.

    Args:
        lines: lines without line endings.
        language: ``mlir``, or a name of Pygments: ``python``, ``llvm``, ``amdgpu``.
    """
    from pygments.token import STANDARD_TYPES

    # Lexers recognise only \n as a line ending, so other line separators are replaced.
    text = "\n".join(" ".join(line[:_LONGEST].splitlines()) for line in lines)
    found: list[list[Piece]] = [[]]
    for token, value in _lexer(language).get_tokens(text):
        css = STANDARD_TYPES.get(token, "")
        for number, part in enumerate(value.split("\n")):
            if number:
                found.append([])
            _append(found[-1], "" if css in {"w", "p", "n", "err"} else css, part)
    return [*found, *([] for _ in range(len(lines) - len(found)))][: len(lines)]


def _append(line: list[Piece], css: str, text: str) -> None:
    if not text:
        return
    if line and line[-1][0] == css:
        line[-1] = (css, line[-1][1] + text)
    else:
        line.append((css, text))


@cache
def _lexer(language: str) -> "Lexer":
    from pygments.lexers import get_lexer_by_name

    options = {"stripnl": False, "ensurenl": False}
    return _mlir()(**options) if language == "mlir" else get_lexer_by_name(language, **options)


def _mlir() -> "type[Lexer]":
    from pygments import token
    from pygments.lexer import RegexLexer

    rules: Iterable[tuple[str, object]] = (
        (r'"(?:[^"\\\n]|\\.)*"', token.String.Double),
        (r"//[^\n]*", token.Comment.Single),
        (r"%[\w$.#-]+", token.Name.Variable),
        (r"@[\w$.]+", token.Name.Function),
        (r"#[\w$.]+", token.Name.Decorator),
        (r"\^\w+", token.Name.Label),
        (r"![\w$.]+|\b(?:[su]?i\d+|b?f\d+\w*|index)\b", token.Keyword.Type),
        (r"\b(?:tensor|memref|vector)\b", token.Keyword.Type),
        (r"\b[a-z]\w*(?:\.\w+)+", token.Keyword),
        (r"(?<![\w.])-?\d[\w.]*(?:[eE][+-]?\d+)?", token.Number),
        (r"\s+", token.Text),
        (r"\w+|.", token.Text),
    )

    class MlirLexer(RegexLexer):  # type: ignore[misc]
        name = "MLIR"
        tokens = {"root": list(rules)}  # noqa: RUF012 - Pygments reads it so

    return MlirLexer
