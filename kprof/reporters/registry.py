"""Registry of output formats: the files in this folder that define ``FORMAT``."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kprof.errors import KprofError, near_hint

if TYPE_CHECKING:
    from kprof.reporters.interface import Format


@cache
def formats() -> "tuple[Format, ...]":
    """Return all formats sorted by name, after JSON, which every command supports.

    Only files of formats are imported.
    """
    folder = Path(__file__).parent
    files = [*folder.glob("*.py"), *folder.glob("*/__init__.py")]
    named = {file.parent.name if file.stem == "__init__" else file.stem: file for file in files}
    found = [
        import_module(f"{__package__}.{name}").FORMAT
        for name, file in named.items()
        if "\nFORMAT = " in file.read_text(encoding="utf-8")
    ]
    return tuple(sorted(found, key=lambda each: (each.name != "json", each.name)))


def formats_of(kind: str) -> "tuple[Format, ...]":
    """Return the formats that can render a kind of document."""
    return tuple(each for each in formats() if kind in each.documents)


def format_of(name: str, kind: str) -> "Format":
    """Return a format by name.

    Raises:
        KprofError: unknown name, or the format cannot render this kind of document.
    """
    usable = {each.name: each for each in formats_of(kind)}
    if name in usable:
        return usable[name]
    if any(each.name == name for each in formats()):
        hint = f"These can: {', '.join(usable)}"
        raise KprofError(f"the format {name} does not support this command's result", hint=hint)
    raise KprofError(f"no output format {name!r}", hint=near_hint(name, [*usable, "text"], "They are"))
