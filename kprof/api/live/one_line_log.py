"""Log library messages as one line per record, so that a damaged client message does not print a traceback."""

import logging
import sys

from kprof.output.sink import clean

_LONGEST = 200


class _OneLine(logging.Handler):
    """A handler that writes the message and the error's text in one line, and skips repeated reports of an error."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._last: BaseException | None = None
        self._unread = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to standard error."""
        error = record.exc_info[1] if record.exc_info else None
        # pygls logs an unreadable message twice: when it fails to deserialize it, and when it fails to handle it.
        again = self._unread and type(error).__name__.startswith("JsonRpc")
        if again or (error is not None and self._last in _chain(error)):
            return
        self._last = error or self._last
        try:
            message = record.getMessage()
        except (TypeError, ValueError):
            message = str(record.msg)
        self._unread = message.startswith("Unable to deserialize")
        words = f": {type(error).__name__}: {error}" if error is not None else ""
        line = clean(f"{message.strip().partition(chr(10))[0].rstrip('.')}{words}".replace("\n", " "))
        line = line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
        print(f"kprof: {line}", file=sys.stderr, flush=True)


def _chain(error: BaseException) -> list[BaseException]:
    """Return the error and its causes."""
    found: list[BaseException] = []
    while error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__ or error
    return found


def log_in_one_line(*names: str) -> None:
    """Make the loggers with these names, and their children, write one line per record to standard error."""
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers = [_OneLine()]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
