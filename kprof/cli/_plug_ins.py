"""Plug-ins that cannot be loaded, where a command's own answer does not name them."""

from kprof.output.writing import log


def tell_broken(code: int = 0) -> int:
    """Name them on standard error.

    Args:
        code: the exit code without them.

    Returns:
        The exit code: 2, cannot tell, where all was fine but for them.
    """
    from kprof.api.rules import broken_plug_ins

    broken = broken_plug_ins()
    for message in broken:
        log(f"kprof: {message}")
    return 2 if broken and not code else code
