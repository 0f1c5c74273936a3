"""Read the records of CSV text; malformed text raises only :class:`kprof.errors.KprofError`."""

import csv
from collections.abc import Iterable, Iterator

from kprof.errors import InputError


def records(lines: Iterable[str], path: str, *, first: int = 1, skip_spaces: bool = False) -> Iterator[list[str]]:
    """Yield the records of comma-separated text.

    Args:
        lines: lines of the text.
        path: path of the file, for messages.
        first: line number in the file of the first of ``lines``.
        skip_spaces: whether to ignore spaces after a comma.

    Raises:
        KprofError: if a field is longer than the csv module allows; the message names the line.
    """
    # Python 3.10's csv rejects zero bytes and later versions keep them. Replacing them with a non-numeric character
    # gives the same result in both.
    reader = csv.reader(
        (line.replace("\0", "\N{REPLACEMENT CHARACTER}") for line in lines), skipinitialspace=skip_spaces
    )
    while True:
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            place = f"line {first - 1 + reader.line_num}"
            raise InputError(f"cannot be read as CSV: {error}", path=path, place=place) from None
        yield record
