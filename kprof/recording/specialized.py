"""Give kernels that triton_kernels generates from others at run time the source lines of the original kernels."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.simulation.patches import Patches

MODULE = "triton_kernels.specialize"
"""Module after whose import :func:`install` has to run."""


def install(patches: "Patches") -> None:
    """Patch ``specialize``, so that each generated kernel has the file and lines of the kernel it was made from."""
    module = sys.modules[MODULE]
    original: Callable[..., Any] = module.__dict__["specialize"]

    def specialize(fn: Any, *args: Any, **kwargs: Any) -> Any:
        made = original(fn, *args, **kwargs)
        locate(made, fn)
        return made

    patches.set(module, "specialize", specialize)


def locate(made: Any, template: Any) -> None:
    """Give a generated function the file and lines of the function that its body comes from, if they are known.

    Args:
        made: the function with generated text.
        template: the function that the body comes from.
    """
    code, own = made.fn.__code__, template.fn.__code__
    lines, text = getattr(template, "raw_src", None), getattr(made, "src", None)
    if not lines or not isinstance(text, str):
        return
    # Both functions end with the same body; only the number of lines before the body differs.
    longer = len("".join(lines).rstrip().splitlines()) - len(text.rstrip().splitlines())
    first = max(1, template.starting_line_number + longer)
    before = next((n for n, line in enumerate(made.raw_src) if line.strip().startswith("def ")), 0)
    made.starting_line_number = max(1, first - before)
    # Triton 3.9 also stores the line and file as attributes, and uses them as source lines of the compiled code.
    for name, value in (("def_file_line_number", first), ("file_name", own.co_filename)):
        if hasattr(made, name):
            setattr(made, name, value)
    made.fn.__code__ = code.replace(co_filename=own.co_filename, co_firstlineno=first)
