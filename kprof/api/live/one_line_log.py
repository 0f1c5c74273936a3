"""What libraries log while they serve, as one line a record: no traceback for a message that somebody damaged."""

import logging
import sys

from kprof.output.sink import clean

_LONGEST = 200


class _OneLine(logging.Handler):
    """Writes the message and the error's own words; what is reported at two levels is written once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._last: BaseException | None = None
        self._unread = False

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record to standard error."""
        error = record.exc_info[1] if record.exc_info else None
        # pygls says of a message that it cannot read, and then again that it cannot handle it.
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
    """The error, and those that it came from."""
    found: list[BaseException] = []
    while error not in found:
        found.append(error)
        error = error.__cause__ or error.__context__ or error
    return found


def log_in_one_line(*names: str) -> None:
    """Have the loggers with these names, and those below them, write one line a record."""
    for name in names:
        logger = logging.getLogger(name)
        logger.handlers = [_OneLine()]
        logger.propagate = False
        logger.setLevel(logging.WARNING)
