"""Explain why the kernels of one capture are worse than those of another: the program, or the Triton that compiled it.

The newer capture's kernels are compiled again with both versions of Triton. If the newer Triton's code of a kernel is
worse there, too, Triton is the cause, and :mod:`kprof.tuning.trials.explain` explains the kernel. Otherwise the program
has changed.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from kprof.errors import KprofError

if TYPE_CHECKING:
    from kprof.diffing.comparing import Input
    from kprof.diffing.document import Explanation
    from kprof.diffing.limits import DiffLimits
    from kprof.options.groups import CompileOptions


def explain_captures(
    targets: Sequence[str],
    sides: "Sequence[Input]",
    options: "CompileOptions",
    limits: "DiffLimits",
    *,
    budget: float,
    tell: Callable[[str], None],
    wait: Callable[[str], None],
) -> "tuple[dict[int, Explanation], list[str]]":
    """Return explanations by index into the chains of the sides, and notes. A chain is one kernel on all sides.

    Args:
        targets: the two captures.
        sides: the loaded contents of the captures.
        options: architectures, and whether all configurations count.
        limits: thresholds for relevant differences.
        budget: seconds for the explanations.
        tell: called with status messages.
        wait: called with a description of each download or wait.

    Raises:
        KprofError: if a capture was not made by a single release of Triton, or the release is not available.
    """
    from kprof.diffing.comparing import chains, kernel_diff
    from kprof.tuning.trials.tritons import Tritons

    versions = [_version(target, side) for target, side in zip(targets, sides, strict=True)]
    if versions[0] == versions[1]:
        return {}, [f"Triton {versions[0]} compiled both sides, so the program or its compile options changed"]
    with Tritons(targets[1], options, [_requested_name(version) for version in versions], tell, wait) as tritons:
        again = tritons.sides()
        reasons = tritons.explanations(again, limits, budget)
    notes = [f"explained with {sides[1].label}, compiled again from its TTIR with Triton {' and '.join(versions)}"]
    notes += [problem for side in again for problem in side.problems]
    harmed = {
        i: chain
        for i, chain in enumerate(chains(sides))
        if kernel_diff(chain, sides, limits).status in {"worse", "mixed"} and 1 in chain.entries
    }
    found: dict[int, Explanation] = {}
    partner = _partners(sides[1], again)
    for index, chain in harmed.items():
        place = partner.get(id(chain.entries[1]))
        if place is None:
            continue
        if place in reasons:
            found[index] = reasons[place]
            continue
        name, both = f"{chain.last.name} on {chain.last.arch}", chains(again)[place]
        if len(both.entries) < len(again):
            # The cause is unknown unless both versions compile the kernel.
            missing = next(v for n, v in enumerate(versions) if n not in both.entries)
            notes.append(f"{name}: not explained, Triton {missing} could not compile it again from its TTIR")
        elif kernel_diff(both, again, limits).status not in {"worse", "mixed"}:
            notes.append(
                f"{name}: Triton {versions[0]} compiles it no better, so the program changed, not the compiler"
            )
    return found, notes


def _partners(side: "Input", again: "Sequence[Input]") -> dict[int, int]:
    """Map the id of each recorded entry to the index of its chain (one kernel on both sides) after recompiling."""
    from kprof.diffing.comparing import chains
    from kprof.diffing.pairing import match

    known = [(place, chain.entries[1]) for place, chain in enumerate(chains(again)) if 1 in chain.entries]
    pairs = match(side.kernels, [entry for _, entry in known])
    return {id(side.kernels[p.old]): known[p.new][0] for p in pairs if p.old is not None and p.new is not None}


def _version(target: str, side: "Input") -> str:
    """Return the release of Triton that made a capture."""
    found = sorted({kernel.triton for kernel in side.kernels if isinstance(kernel.triton, str)})
    if len(found) != 1:
        made = ", ".join(found) or "none that is known"
        raise KprofError(
            f"only a capture made by a single known Triton can be explained, but this one was made by {made}",
            path=target,
        )
    return found[0]


def _requested_name(version: str) -> str:
    """Return the name by which a release is requested: ``installed`` for the running one, which needs no folder."""
    from kprof.compiler.installations import CURRENT, normalise
    from kprof.compiler.versions import installed

    try:
        running = installed().version
    except KprofError:
        running = ""
    return CURRENT[0] if version == running else normalise(version)
