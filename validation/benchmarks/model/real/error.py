"""Measure how far a stand-in's prediction is from that of the kernel that it replaces, for the same configurations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

from validation.benchmarks.model import metrics
from validation.benchmarks.model.evaluate import Judged, Model, Scored, judge
from validation.benchmarks.model.layout import cell, markdown
from validation.benchmarks.model.problem import Family, Problem
from validation.benchmarks.model.summary import summary
from validation.benchmarks.model.tritons import version

if TYPE_CHECKING:
    from validation.benchmarks.model.real.kernels import RealKernels

HEADING = "Real kernels and stand-ins"
NAME = "model_real.json"
"""File next to the page with figures of a sample, see :mod:`validation.benchmarks.model.real.__main__`."""
FEW = 5
"""Minimum number of configurations for a problem's order to be compared."""
_SHOWN = (
    ("in the top 5 %", "top5_percent", "{:.0%}"),
    ("median percentile", "median_percentile", "{:.1%}"),
    ("among the first 5", "recall_top5", "{:.2f}"),
    ("Spearman", "clean_spearman", "{:.2f}"),
    ("gains' Spearman", "gain_spearman", "{:.2f}"),
    ("sign", "sign_right", "{:.0%}"),
    ("top-1", "clean_top1", "{:.3f}"),
    ("median ratio", "ratio_median", "{:.2f}"),
    ("median ratio", "clean_ratio", "{:.2f}"),
    ("Spearman", "spearman", "{:.2f}"),
)
"""Figures that are compared with published times: heading, key of a family's summary, format."""


def settle(
    real: "RealKernels", model: Model, family: Family, results: Sequence[Judged]
) -> tuple[list[Judged], dict[str, Any]]:
    """Return a family's results, with the stand-in if the real kernel does not compile, and the stand-in's error.

    A package's kernel may need a newer Triton than the one of the measurement. In that case, this Python's Triton
    compiles both kernels for the comparison.

    Args:
        real: the real kernels; problems whose kernel does not compile are recorded there.
        model: model that predicts the stand-ins.
        family: the family with its question.
        results: results from the real kernels.
    """
    used = real.used[family.name]
    found: dict[str, Any] = {name: list(getattr(used, name)) for name in ("kernels", "packages", "refused")}
    if not used.kernels:
        return list(results), found
    ours = judge(model, family, used.stand_ins)
    both = [(a, b) for a, b in zip(results, ours, strict=True) if a.problem.name in used.problems]
    lost = {a.problem.name for a, b in both if a.failed > b.failed}
    real.lost[family.name] = frozenset(lost)
    found["problems"] = [len(both) - len(lost), len(results)]
    if lost:
        found["uncompiled"] = _why([a for a, _ in both if a.problem.name in lost])
        sides = [judge(model, family, [_here(one[n].problem) for one in both if one[0].problem.name in lost])
                 for n in (0, 1)]  # fmt: skip
        both = [*zip(*sides, strict=True), *(one for one in both if one[0].problem.name not in lost)]
    found["error"] = figures([a for a, _ in both], [b for _, b in both])
    return [b if a.problem.name in lost else a for a, b in zip(results, ours, strict=True)], found


def _here(problem: Problem) -> Problem:
    """Return a problem for this Python's Triton."""
    candidates = (replace(one, points=tuple(replace(p, triton="") for p in one.points)) for one in problem.candidates)
    return replace(problem, candidates=tuple(candidates))


def _why(lost: Sequence[Judged]) -> str:
    """Return which releases do not compile the real kernel."""
    named = dict.fromkeys(p.triton or version() for one in lost for c in one.problem.candidates for p in c.points)
    return f"with Triton {', '.join(named)}, which compiles these rows; both were compared with {version()}"


def show(name: str, one: Mapping[str, Any]) -> None:
    """Print a family's part on the terminal."""
    print(f"{name}: {words(one)}")
    if one["packages"]:
        order, ratio = _between(one["error"])
        print(f"{name}: real kernel against stand-in: order {order}, time p10/med/p90 {ratio}")
        for _, head, real, stand_in in _against({name: one}, {name: name}):
            print(f"{name}: {head}: {real} from the real kernel, {stand_in} from the stand-in", flush=True)


def figures(real: Sequence[Judged], stand_in: Sequence[Judged]) -> dict[str, Any]:
    """Return the stand-in's error on the problems that were predicted with both kernels.

    Args:
        real: results of a family with the measured kernel.
        stand_in: results of the same problems in the same order, with our kernel.
    """
    both = list(zip(real, stand_in, strict=True))
    pairs = [_pairs(one.scored, other.scored) for one, other in both]
    orders = [metrics.spearman([a.us for a, _ in each], [b.us for _, b in each]) for each in pairs if len(each) >= FEW]
    if not orders and len(pairs) >= FEW:
        # Problems with single configurations: the order is that of the problems.
        every = [one for each in pairs for one in each]
        orders = [metrics.spearman([a.us for a, _ in every], [b.us for _, b in every])]
    known = [one for one in orders if one is not None]
    ratios = [a.us / b.us for each in pairs for a, b in each]
    return {
        "configurations": len(ratios),
        "order": fmean(known) if known else None,
        "ratio": [metrics.quantile(ratios, share) for share in (0.1, 0.5, 0.9)] if ratios else None,
        "real": summary(real),
        "stand_in": summary(stand_in),
    }


def _pairs(real: Sequence[Scored], stand_in: Sequence[Scored]) -> list[tuple[Scored, Scored]]:
    """Return configurations that compiled with both kernels, each once."""
    others = {_key(one): one for one in stand_in}
    return [(one, others[_key(one)]) for one in real if _key(one) in others]


def _key(one: Scored) -> tuple[Any, ...]:
    return repr(sorted(one.candidate.config.items())), one.candidate.winner, one.candidate.time_us


def section(found: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str]) -> list[str]:
    """Return the page's section about real kernels and stand-ins.

    Args:
        found: error of :func:`settle` by family.
        titles: headings of all families on the page.
    """
    found = {name: one for name, one in found.items() if name in titles}
    taken = {name: one for name, one in found.items() if one["packages"]}
    lines = [
        [titles[name], ", ".join(one["packages"]), _share(one), str(one["error"]["configurations"]),
         *_between(one["error"])]
        for name, one in taken.items()
    ]  # fmt: skip
    text = [f"## {HEADING}", "", TEXT, ""]
    if any("sample" in one for one in taken.values()):
        text += [SAMPLED, ""]
    if lines:
        text += [
            *markdown(["family", "kernel of", "problems", "configurations", "order", "time p10/med/p90"], lines),
            "",
        ]
        text += ["Against what was published, from the code of the real kernel (first) and of the stand-in:", ""]
        text += [*markdown(["family", "figure", "real kernel", "stand-in"], _against(taken, titles)), ""]
    refused = [f"{titles[name]}: {why}." for name, one in found.items() for why in one["refused"]]
    refused += [
        f"{titles[name]}: the real kernel does not compile {one['uncompiled']}."
        for name, one in taken.items()
        if "uncompiled" in one
    ]
    if refused:
        text += ["Asked for and not taken, or not for all:", "", *(f"- {one}" for one in refused), ""]
    without = [title for name, title in titles.items() if name not in taken]
    if without:
        text += ["Predicted from a stand-in, whose error is not known: " + "; ".join(without) + ".", ""]
    return text


def _share(one: Mapping[str, Any]) -> str:
    """Format ``48``, or ``40 of 48`` if the others keep the stand-in or a sample was drawn."""
    taken, whole = one.get("sample", one["problems"])
    return str(whole) if taken == whole else f"{taken} of {whole}"


def placed(page: str, found: Mapping[str, Mapping[str, Any]], titles: Sequence[tuple[str, str]], before: str) -> str:
    """Return the page with this section, which replaces its old version or is placed before another section.

    Args:
        page: text of the page.
        found: as for :func:`section`.
        titles: beginning of each family's heading.
        before: heading of the section to place it before.
    """
    first, *rest = page.split("\n## ")
    names = [one.partition("\n")[0] for one in rest]
    known = {family: next((n for n in names if n.startswith(title)), "") for family, title in titles}
    text = "\n".join(section(found, {family: name for family, name in known.items() if name})).removeprefix("## ")
    if HEADING in names:
        rest[names.index(HEADING)] = text
    else:
        rest.insert(names.index(before), text)
    return "\n## ".join([first, *rest])


def _between(error: Mapping[str, Any]) -> list[str]:
    ratio = "/".join(f"{one:.2f}" for one in error["ratio"]) if error["ratio"] else "-"
    return [cell(error["order"], "{:.2f}"), ratio]


def _against(taken: Mapping[str, Mapping[str, Any]], titles: Mapping[str, str]) -> list[list[str]]:
    return [
        [titles[name], head, *(cell(one["error"][side].get(key), form) for side in ("real", "stand_in"))]
        for name, one in taken.items()
        for head, key, form in _SHOWN
        if one["error"]["real"].get(key) is not None
    ]


TEXT = """\
`--packages FOLDER...` takes the measured kernel itself from an installation, an unpacked wheel or a checkout, where one
of the folders has it: the function is cut out with what it names, and launched as its package launches it. The
packages' versions are today's, not those of the measurements. Where a constant only numbers the tiles it is made a
number of the launch, as in our stand-ins, so that one compile serves all its values. *order*: rank correlation of the
times that are predicted from both, within a problem, on average (of the problems where each has one or two
configurations). *time*: predicted from the real kernel over predicted from the stand-in."""


SAMPLED = """\
The error was taken on a sample (`python -m validation.benchmarks.model.real --packages FOLDER...`): problems drawn of
each family with a fixed seed, and a few configurations of each besides the winner, so that percentiles are coarse. The
families' own sections are of the stand-ins where they do not say otherwise."""


def words(one: Mapping[str, Any]) -> str:
    """Return the kernel that a family was predicted from, as one line; empty for a stand-in."""
    said = [f"not taken from a package: {why}" for why in one["refused"]]
    if one["packages"]:
        taken, whole = one["problems"]
        share = "" if taken == whole else f", for {taken} of {whole} problems, else a stand-in"
        why = f": it does not compile {one['uncompiled']}" if "uncompiled" in one else ""
        said.insert(0, f"The kernel is that of {', '.join(one['packages'])} ({', '.join(one['kernels'])}){share}{why}")
    return "; ".join(said)
