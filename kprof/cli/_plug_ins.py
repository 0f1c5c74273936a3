"""Report plug-ins that cannot be loaded, for commands whose normal output does not mention them."""

from kprof.output.writing import log


def tell_broken(code: int = 0) -> int:
    """Print a message on standard error for each plug-in that cannot be loaded.

    Args:
        code: the command's exit code without broken plug-ins.

    Returns:
        ``code``, or 2 (cannot tell) if the code is 0 and a plug-in is broken.
    """
    from kprof.api.rules import broken_plug_ins

    broken = broken_plug_ins()
    for message in broken:
        log(f"kprof: {message}")
    return 2 if broken and not code else code
