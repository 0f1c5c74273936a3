"""Tuned-configuration files of AITER, vLLM and SGLang, and lists of ``triton.Config``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kprof.api.options import Names, Path_, Values, names
from kprof.api.result import ReportResult
from kprof.errors import KprofError, near


@dataclass(frozen=True, eq=False, repr=False)
class LintedConfigs(ReportResult):
    """What is wrong with some configuration files; ``kernels`` has an entry a file.

    Attributes:
        document: the entries and the verdict, as ``kprof lint-configs --json`` writes them.
        failures: why files could not be read; each is an entry of the document, too.
    """

    failures: Sequence[KprofError] = ()
    kind: ClassVar[str] = "lint"


def lint_configs(
    *paths: "Path_",
    arch: str | None = None,
    compile_buckets: bool = False,
    kernel: str | None = None,
    rename: Mapping[str, str | None] | None = None,
    case: str | None = None,
    shape: Values | None = None,
    signature: str | None = None,
    constexprs: Values | None = None,
    ignore: Names = (),
    fail_on: str = "warning",
    jobs: int = 0,
) -> LintedConfigs:
    """Check the files' text, their keys, what the GPU has, and which buckets are ever used. Files are only read.

    Args:
        paths: files, or folders that are searched for such files.
        arch: the GPU of files that do not say for which one they are.
        compile_buckets: compile the kernel for each bucket, where the kernel is known. No GPU is used.
        kernel: the kernel to compile: a bundled one or ``file.py::function``; implies ``compile_buckets``.
        rename: a configuration's knob to the kernel's, ``None`` for one that is left out.
        case: one of the kernel's named shapes.
        shape: problem parameters on top of the case's, the file's and the bucket's.
        signature: argument types of a kernel without cases.
        constexprs: its compile-time arguments that are no knobs.
        ignore: rules to leave out, by identifier or name.
        fail_on: a finding this bad fails: ``note``, ``warning``, ``error`` or ``never``.
        jobs: worker processes, 0 for one a core.

    Raises:
        HardwareError: the architecture is not known.
        KprofError: a rule is not known, or the kernel that is named cannot be loaded.
    """
    from kprof_servers.configs.compiling import Choice, compiled
    from kprof_servers.configs.devices import architecture
    from kprof_servers.configs.lint import lint
    from kprof_servers.configs.reading import gather
    from kprof_servers.lint_document import document

    left_out = _rules(names(ignore))
    if fail_on not in {"note", "warning", "error", "never"}:
        raise KprofError(f"--fail-on takes note, warning, error or never, got {fail_on!r}")
    assumed = None if arch is None else architecture(arch)
    found = gather([str(Path(path).absolute()) for path in paths])
    tried = None
    if compile_buckets or kernel is not None:
        choice = Choice(
            kernel=kernel,
            rename=dict(rename or {}),
            case=case,
            shape=dict(shape or {}),
            signature=signature,
            constexprs=dict(constexprs or {}),
        )
        tried = compiled(found.files, choice, assumed, jobs)
    entries = lint(found.files, assumed, None if tried is None else tried.buckets)
    return LintedConfigs(document(entries, found, tried, left_out, fail_on), list(found.problems))


def _rules(words: Sequence[str]) -> set[str]:
    """Identifiers and names of rules that are left out.

    Raises:
        KprofError: one is not known.
    """
    from kprof_servers.configs.checks import checks

    by_name = {check.name: check.id for check in checks()}
    chosen = set()
    for word in words:
        rule = by_name.get(word.lower(), word.upper())
        if rule not in by_name.values():
            raise KprofError(f"--ignore: no rule {word!r}{near(word, [*by_name, *by_name.values()])}")
        chosen.add(rule)
    return chosen
