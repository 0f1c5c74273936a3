"""Writers of tuned configurations: one module per format, found automatically in this folder."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from kprof.errors import KprofError, near
from kprof.tuning.formats.interface import Writer

_NOT_WRITERS = {"interface", "mapping"}


@cache
def writers() -> dict[str, Writer]:
    """Return every writer by its name: ``triton``, ``aiter``, ``vllm``, ``sglang``, ``tune_gemm``, ``dispatch``."""
    names = (m.name for m in iter_modules(__path__) if m.name not in _NOT_WRITERS)
    found: dict[str, Writer] = {}
    for name in names:
        writer: Writer = import_module(f"{__name__}.{name}").WRITER
        found[writer.name] = writer
    return found


def writer(name: str) -> Writer:
    """Return the writer of a format.

    Raises:
        KprofError: if no format has that name.
    """
    known = writers()
    if name not in known:
        raise KprofError(
            f"unknown format {name!r}{near(name, known)}", hint=f"known formats: {', '.join(sorted(known))}"
        )
    return known[name]
