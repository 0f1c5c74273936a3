"""Records of a CSV text, in which nothing but a :class:`kprof.errors.KprofError` can go wrong."""

import csv
from collections.abc import Iterable, Iterator

from kprof.errors import InputError


def records(lines: Iterable[str], path: str, *, first: int = 1, skip_spaces: bool = False) -> Iterator[list[str]]:
    """Read comma-separated records.

    Args:
        lines: the text, line by line.
        path: where it came from, for messages.
        first: number of the first line in the file.
        skip_spaces: ignore spaces after a comma.

    Raises:
        KprofError: a field is longer than the csv module takes; the message has the line.
    """
    # Python 3.10's csv refuses zero bytes, later ones pass them on: a mark that is no number serves both.
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
