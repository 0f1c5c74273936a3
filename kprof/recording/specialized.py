"""Kernels that triton_kernels writes from others at run time: their lines are those of the kernels they come from."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.simulation.patches import Patches

MODULE = "triton_kernels.specialize"
"""After its import :func:`install` is due."""


def install(patches: "Patches") -> None:
    """Give each kernel that is specialised from another one the file and the lines of that one."""
    module = sys.modules[MODULE]
    original: Callable[..., Any] = module.__dict__["specialize"]

    def specialize(fn: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(fn, *args, **kwargs)
        locate(made, fn)
        return made

    patches.set(module, "specialize", specialize)


def locate(made: Any, template: Any) -> None:
    """Give a function the place of the one whose body it has; nothing where their lines are not known.

    Args:
        made: the function whose text was written.
        template: the function that the body comes from.
    """
    code, own = made.fn.__code__, template.fn.__code__
    lines, text = getattr(template, "raw_src", None), getattr(made, "src", None)
    if not lines or not isinstance(text, str):
        return
    # Both end with the same body: only what stands before it has another length.
    longer = len("".join(lines).rstrip().splitlines()) - len(text.rstrip().splitlines())
    first = max(1, template.starting_line_number + longer)
    before = next((n for n, line in enumerate(made.raw_src) if line.strip().startswith("def ")), 0)
    made.starting_line_number = max(1, first - before)
    # Triton 3.9 keeps both besides, and takes them for the lines of the compiled code.
    for name, value in (("def_file_line_number", first), ("file_name", own.co_filename)):
        if hasattr(made, name):
            setattr(made, name, value)
    made.fn.__code__ = code.replace(co_filename=own.co_filename, co_firstlineno=first)
