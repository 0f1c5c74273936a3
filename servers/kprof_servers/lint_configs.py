"""Check tuned-configuration files of AITER, vLLM and SGLang, and lists of ``triton.Config``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from kprof.api.options import Path_
from kprof.api.result import ReportResult
from kprof.errors import KprofError, near
from kprof.options.keywords import keywords
from kprof_servers.options import LintConfigsOptions


@dataclass(frozen=True, eq=False, repr=False)
class LintedConfigs(ReportResult):
    """The problems of configuration files; ``kernels`` has one entry per file.

    Attributes:
        document: the entries and the verdict, as written by ``kprof lint --json``.
        failures: reasons why files could not be read; each is also an entry of the document.
    """

    failures: Sequence[KprofError] = ()
    kind: ClassVar[str] = "lint"


@keywords
def lint_configs(*paths: "Path_", options: LintConfigsOptions) -> LintedConfigs:
    """Check the text, keys and values of tuned-configuration files, and find unused buckets. Files are only read.

    Args:
        paths: files, or folders that are searched for such files.
        options: the GPU of files that name none, the kernel to compile for each bucket, and what fails. A ``target``
            implies ``compile``.

    Raises:
        HardwareError: the architecture is unknown.
        KprofError: a rule is unknown, or the named kernel cannot be loaded.
    """
    from kprof_servers.configs.compiling import Choice, compiled
    from kprof_servers.configs.devices import architecture
    from kprof_servers.configs.lint import lint
    from kprof_servers.configs.reading import gather
    from kprof_servers.lint_document import document

    if len(options.target) > 1:
        raise KprofError("kprof lint accepts one --target", hint=f"--target {options.target[0]}")
    arch = options.one_gpu("kprof lint")
    left_out = _rules(options.ignore)
    assumed = architecture(arch) if arch else None
    found = gather([str(Path(path).absolute()) for path in paths])
    tried = None
    if options.compile or options.target:
        choice = Choice(
            kernel=options.target[0] if options.target else None,
            rename=dict(options.rename),
            case=options.case,
            shape=dict(options.sizes),
            signature=options.signature,
            constexprs=dict(options.constexpr),
        )
        tried = compiled(found.files, choice, assumed, options.jobs)
    entries = lint(found.files, assumed, None if tried is None else tried.buckets)
    return LintedConfigs(document(entries, found, tried, left_out, options.fail_on or "warning"), list(found.problems))


def _rules(words: Sequence[str]) -> set[str]:
    """Return the identifiers of the rules to ignore, given their identifiers or names.

    Raises:
        KprofError: a rule is unknown.
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
