"""Convert SVG to PNG if a converter is installed."""

from importlib import import_module
from typing import Any

from kprof.errors import InputError


def png(svg: str) -> bytes:
    """Render an SVG document.

    Raises:
        KprofError: if CairoSVG, the only supported converter, is not installed.
    """
    try:
        cairosvg: Any = import_module("cairosvg")
    except (ImportError, OSError) as error:  # OSError: the C library is missing
        raise InputError(
            "PNG needs CairoSVG, which is not installed", hint="pip install cairosvg, or name the picture .svg"
        ) from error
    data = cairosvg.svg2png(bytestring=svg.encode(), unsafe=False)
    assert isinstance(data, bytes)
    return data
