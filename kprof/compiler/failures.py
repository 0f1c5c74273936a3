"""Translate the compiler's exceptions into a message and a line of the user's source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kprof.errors import CompileError, KprofError
from kprof.importing.functions import Function

_DIAGNOSTIC = re.compile(r"^(?P<file>[^\n:]+\.py):(?P<line>\d+):(?P<column>\d+): error: (?P<text>.*)$", re.MULTILINE)

_REMOVED = {
    "Block pointers have been removed": "Triton 3.4 to 3.8 compile block pointers: --triton 3.8.0, or install one"
}
"""Text of an error about a feature that was removed from Triton, with a hint that names the releases that have it."""


@dataclass
class RefusedError(CompileError):
    """The compiler rejected the kernel.

    Attributes:
        stage: the stage that failed.
        stages: the results of earlier stages.
        diagnostics: the compiler's output.
    """

    stage: str | None = None
    stages: Mapping[str, str | bytes] = field(default_factory=dict)
    diagnostics: str = ""

    __str__ = KprofError.__str__


def explain(
    error: Exception, stage: str | None, function: Function | None, stages: Mapping[str, str | bytes]
) -> RefusedError:
    """Describe a compiler exception in one sentence, with the user's line if it is known."""
    chain = _chain(error)
    place = _line(chain, function)
    message, hint = _message(chain[-1], stage)
    return RefusedError(
        message=message,
        path=str(function.path) if function else None,
        place=f"line {place}" if place is not None else None,
        hint=hint,
        stage=stage,
        stages=dict(stages),
    )


def from_diagnostics(failure: RefusedError, printed: str) -> RefusedError:
    """Complete a failure from the compiler's output, because MLIR names the source line only there."""
    failure.diagnostics = "\n".join(filter(None, (failure.diagnostics, printed.strip())))
    found = _DIAGNOSTIC.search(printed)
    if found and "unsupported target" in found["text"]:
        failure.message = f"this Triton does not compile for {found['text'].split()[-1].strip(chr(39))}"
        failure.place = None
        # The installed Triton is at fault, not the kernel.
        failure.stage = None
    elif found and failure.stage != "source":
        failure.message = f"{failure.message}: {found['text']}"
        if found["file"] == failure.path:
            failure.place = f"line {found['line']}"
        elif failure.place is None:
            failure.hint = failure.hint or f"reported at {found['file']}, line {found['line']}"
    return failure


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error and its causes, outermost first."""
    chain = [error]
    while chain[-1].__cause__ is not None and len(chain) < 32:
        chain.append(chain[-1].__cause__)
    return chain


def _line(chain: list[BaseException], function: Function | None) -> int | None:
    """Return the line of the outermost error in the user's kernel; for an error in a helper, the line that calls it."""
    start = function.line if function else None
    for error in chain:
        node = getattr(error, "node", None)
        source = getattr(error, "src", None)
        if start is None or node is None or not hasattr(node, "lineno"):
            continue
        return start + _offset(function, source) + int(node.lineno) - 1
    return None


def _offset(function: Function | None, source: Any) -> int:
    """Return the number of decorator lines before ``def``, because Triton counts lines from the ``def``."""
    raw = getattr(function.jit, "raw_src", None) if function else None
    if raw is None and function is not None:
        import inspect

        raw = inspect.getsourcelines(function.jit.fn)[0]
    if not isinstance(source, str) or not raw:
        return 0
    return next((index for index, line in enumerate(raw) if line.lstrip().startswith("def ")), 0)


def _message(error: BaseException, stage: str | None) -> tuple[str, str | None]:
    own = getattr(error, "error_message", None)
    text = own if isinstance(own, str) and own.strip() else str(error)
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    if not lines:
        return f"the compiler failed with {type(error).__name__} while making {stage}", None
    if "unsupported target" in text:
        return "this Triton does not compile for the architecture", None
    if "PassManager::run failed" in text:
        return f"the compiler failed while making {stage}", None
    repr_of = re.fullmatch(r"\w+\((['\"])(.*)\1\)", lines[0]) if own else None
    if repr_of:
        # Triton formats some causes with repr, such as NameError('x is not defined').
        lines[0] = repr_of[2]
    removed = next((versions for words, versions in _REMOVED.items() if words in text), None)
    kind = "" if own else f"{type(error).__name__}: "
    # Some messages begin with an excerpt of the source, and the reason is the last line.
    reason = lines[0] if own else lines[-1]
    return f"does not compile: {kind}{reason}", removed


__all__ = ["RefusedError", "explain", "from_diagnostics"]
