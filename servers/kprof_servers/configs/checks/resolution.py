"""KP724 unreachable-config-file, KP725 shadowed-config-file and KP726 wrong-shape-in-name."""

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from kprof.findings import Finding, Location, Severity
from kprof_servers.configs.checks.check import ConfigCheck, Context
from kprof_servers.configs.formats.aiter_nested import folder_of
from kprof_servers.configs.model import ConfigFile


class UnreachableFile(ConfigCheck):
    """A loader never opens the file, because the default file next to it is missing, or its name or folder is wrong.

    ## What it does
    For AITER GEMM files: a file for one shape needs a default file in the same folder, `DEFAULT.json` in the new layout
    and `<arch>-<NAME>.json` in the old one. In the new layout, the folder's name is derived from the family's name, and
    file names do not begin with an architecture.

    ## Why it matters
    The loader looks for the default file first. In the new layout, a folder without `DEFAULT.json` is ignored; in the
    old layout, the launch fails.

    ## What to try
    Add the default file, or move or rename the file.
    """

    id: ClassVar[str] = "KP724"
    name: ClassVar[str] = "unreachable-config-file"
    severity: ClassVar[Severity] = Severity.ERROR

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        if file.vocabulary != "aiter-gemm" and not (file.format == "AITER nested" and not file.default):
            return
        path = Path(file.path)
        if file.format == "AITER nested":
            yield from self._nested(file, path)
        elif file.format == "AITER flat" and file.arch is not None and file.parameters:
            default = f"{file.arch}-{file.family}.json"
            places = [path.with_name(default), *([path.parent.parent / default] if file.backend == "gluon" else [])]
            if not any(place.exists() for place in places):
                yield self.finding(file, None, f"there is no {default} in its folder, which the loader opens first")

    def _nested(self, file: ConfigFile, path: Path) -> Iterable[Finding]:
        if file.default:
            return
        if not path.with_name("DEFAULT.json").exists():
            text = f"{path.parent.name}/ has no DEFAULT.json: the loader does not see the folder"
            yield self.finding(file, None, text)
        family = file.family or ""
        if family.lower().startswith("gfx"):
            yield self.finding(file, None, f"{path.name} begins with an architecture, which its folder already names")
        elif file.vocabulary == "aiter-gemm" and folder_of(family) != path.absolute().parent.name:
            yield self.finding(
                file, None, f"{family} must be in {folder_of(family)}/, not in {path.absolute().parent.name}/"
            )


class ShadowedFile(ConfigCheck):
    """A file of the old layout is no longer used, because its family also exists in the new layout.

    ## What it does
    For AITER GEMM files: looks for the same architecture and family in the new layout, among the files that are
    checked.

    ## Why it matters
    The loader chooses one folder for the whole family, and prefers the new layout. All files of the old folder are then
    ignored, including files for single shapes.

    ## What to try
    Move the whole family, or remove the old file.
    """

    id: ClassVar[str] = "KP725"
    name: ClassVar[str] = "shadowed-config-file"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:
        """See :meth:`ConfigCheck.check`."""
        if file.format != "AITER flat" or file.vocabulary != "aiter-gemm":
            return
        newer = next(
            (o for o in context.families if o.format == "AITER nested" and o.default and o.backend == file.backend),
            None,
        )
        if newer is not None:
            place = Location(file=newer.path, line=1)
            text = f"{file.family} of {file.arch} also exists in the new layout, so this file is never read"
            yield self.finding(file, None, text, related=[place])


class WrongShape(ConfigCheck):
    """The file's name contains an impossible shape, type or block.

    ## What it does
    Requires positive integers after `E=`, `N=`, `K=`, `B=` and similar keys, types of vLLM after `dtype=`, and two
    numbers in brackets after `block_shape=`.

    ## Why it matters
    Loaders build the file name from the shape. A name that does not correspond to any shape is never opened.

    ## What to try
    Rename the file.
    """

    id: ClassVar[str] = "KP726"
    name: ClassVar[str] = "wrong-shape-in-name"
    severity: ClassVar[Severity] = Severity.WARNING

    def check(self, file: ConfigFile, context: Context) -> Iterable[Finding]:  # noqa: ARG002 - the base class's
        """See :meth:`ConfigCheck.check`."""
        for name, value in file.parameters.items():
            reason = _wrong(name, value)
            if reason:
                yield self.finding(file, None, f"{name}={value} in the file's name: {reason}", parameter=name)


_DTYPES = {
    "fp8_w8a8", "int8_w8a16", "int8_w8a8", "int4_w4a16", "int8", "fp8", "mxfp4_w4a4", "mxfp4_w4a16", "nvfp4", "mxfp4",
    "mxfp6_e2m3", "mxfp6_e3m2", "mxfp8", "fp8_w8a16", "per_channel_quant=True",
}  # fmt: skip


def _wrong(name: str, value: str) -> str | None:
    if len(name) <= 3 and name[0].isupper():
        return None if value.isdecimal() and int(value[:12]) > 0 else "a positive whole number is expected"
    if name == "block_shape":
        parts = value.strip("[]").split(",")
        good = value.startswith("[") and len(parts) == 2 and all(p.strip().isdecimal() for p in parts)
        return None if good else "two numbers in brackets are expected"
    if name == "dtype" and value not in _DTYPES:
        from kprof.errors import near

        hint = near(value, _DTYPES)
        return f"not a type that vLLM writes{hint}" if hint else None
    return None
