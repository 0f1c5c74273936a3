"""Words for kernels that changed since a git revision, for the terminal and for Markdown."""

from collections.abc import Sequence

from kprof.diffing.document import KernelSince, Since
from kprof.output.quantities import plural

_SHOWN = 3
_STATUS = {
    "changed": "machine code changed",
    "source": "source changed",
    "launch": "launch changed",
    "new": "new",
    "gone": "gone",
}


def head(since: Since) -> list[str]:
    """Return text lines with the number of kernels by status, including kernels of unknown status."""
    counts = since.counts
    by_code = sum(each.by == "code" for each in since.kernels)
    by_source = counts.get("unchanged", 0) - by_code
    found = [f"{since.revision} ({since.commit[:10]}) → work tree: {plural(len(since.kernels), 'kernel')}"]
    lines = [
        (by_source, "unchanged, bit for bit: the source of the kernel and of the code that launches it is the same"),
        (by_code, "unchanged, bit for bit, in all launches that were compiled on both sides"),
        (counts.get("changed", 0), "changed: compiled on both sides"),
        (counts.get("source", 0), "cannot tell: the source changed, and the kernel was not compiled on both sides"),
        (
            counts.get("launch", 0),
            "cannot tell: the launching code changed; for the same arguments the kernel is the same, bit for bit",
        ),
        (counts.get("new", 0), "new"),
        (counts.get("gone", 0), "gone"),
        (len(since.unread), f"cannot tell: files that cannot be read: {_few(since.unread)}"),
        (
            len(since.unclaimed),
            f"cannot tell: changed data files that no launch mentions by name: {_few(since.unclaimed)}",
        ),
    ]
    found += [f"{count:>6} {words}" for count, words in lines if count]
    if since.tests:
        found.append(
            f"{len(since.tests):>6} {'test launches' if len(since.tests) == 1 else 'tests launch'} "
            "kernels that changed or may have changed: --list-tests"
        )
    return found


def changed(since: Since) -> list[KernelSince]:
    """Return the kernels that changed or may have changed, moved, or were compiled to the same code as before."""
    return [each for each in since.kernels if each.status != "unchanged" or each.by == "code" or each.moved_from]


def kernel(each: KernelSince, *, verbose: bool) -> list[str]:
    """Return the text lines for a kernel: its location, what differs, and what launches it."""
    what = _STATUS.get(each.status, "unchanged, bit for bit")
    lines = [f"{each.file}:{each.line}: {each.name}: {what}"]
    if each.moved_from:
        lines.append(f"was {each.moved_from}")
    if each.compiled:
        lines.append(f"compiled: {plural(each.compiled, 'launch', 'launches')}")
    if each.reasons:
        lines.append(f"differs: {_few(each.reasons, verbose=verbose)}")
    if each.functions:
        lines.append(f"launched by {_few(each.functions, verbose=verbose)}")
    if each.tests:
        lines.append(f"tests: {_few(each.tests, verbose=verbose)}")
    elif each.status != "gone":
        lines.append("tests: no test mentions it")
    return lines


def _few(names: Sequence[str], *, verbose: bool = False) -> str:
    if verbose or len(names) <= _SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
