"""The verdict's line, on kernels that are marked by hand."""

import pytest

from kprof.document import KernelReport
from kprof.findings import Coverage, Finding, Location, Severity, Unjudged
from kprof.gate.rules import CANNOT_LAUNCH, CANNOT_TELL, DOES_NOT_COMPILE, FAILS, KNOWN, MARK, STALE, UNKNOWN, WORSE
from kprof.gate.verdict import not_run, verdict


def marked(mark, message, rule=WORSE, severity=Severity.ERROR, metric=None) -> Finding:
    """A finding of the gate."""
    evidence = {MARK: mark, **({"metric": metric} if metric else {})}
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=severity,
        message=message,
        location=Location("k.py", 1),
        evidence=evidence,
    )


def kernel(*findings, name="add", arch="gfx942", lacking=()) -> KernelReport:
    """A kernel that was judged."""
    coverage = Coverage(not_checked=[Unjudged(rule=rule, name="n", reason=reason) for rule, reason in lacking])
    return KernelReport(name=name, arch=arch, findings=list(findings), rules=coverage)


FAILING = marked(FAILS, "worse")
UNSURE = marked(UNKNOWN, "who knows", CANNOT_TELL, Severity.WARNING)


@pytest.mark.parametrize(
    ("kernels", "compared", "nearest", "status", "summary"),
    [
        ([kernel()], False, 0, "ok", "ok: 1 check, within budget"),
        ([kernel()], True, 0, "ok", "ok: 1 check, nothing is worse than the baseline"),
        (
            [kernel(), kernel()],
            True,
            1,
            "ok",
            "ok: 2 checks, nothing is worse than the baseline (1 compared with other knobs)",
        ),
        ([kernel(marked(KNOWN, "old"))], False, 0, "ok", "ok: 1 check, within budget"),
        ([kernel(lacking=[("KP404", "r")])], False, 0, "ok", "ok: 1 check, within budget; 1 rule could not run"),
        (
            [kernel(lacking=[("KP404", "r"), ("KP405", "r")]), kernel(lacking=[("KP404", "s")])],
            False,
            0,
            "ok",
            "ok: 2 checks, within budget; 2 rules could not run",
        ),
        (
            [kernel(FAILING), kernel()],
            True,
            0,
            "regression",
            "regression: 1 of 2 checks fail: add on gfx942: worse",
        ),
        (
            [kernel(UNSURE, name="sub"), kernel(FAILING, UNSURE, arch="gfx950")],
            True,
            0,
            "regression",
            "regression: 1 of 2 checks fail, 2 cannot be determined: add on gfx950: worse",
        ),
        (
            [kernel(UNSURE)],
            True,
            0,
            "cannot_tell",
            "cannot tell: 1 of 1 check could not be judged: add on gfx942: who knows",
        ),
        ([], False, 0, "cannot_tell", "cannot tell: 0 of 0 checks could not be judged"),
        (
            [kernel(), kernel(UNSURE, marked(UNKNOWN, "changed", STALE, Severity.WARNING))],
            False,
            0,
            "cannot_tell",
            "stale: 1 of 2 checks could not be judged: add on gfx942: changed",
        ),
    ],
)
def test_the_line_by_hand(kernels, compared, nearest, status, summary):
    """Failing goes before unknown, unknown before ok; what could not be looked at is counted beside it."""
    found = verdict(kernels, compared=compared, nearest=nearest)
    assert (found.status, found.summary) == (status, summary)


NOTE = Severity.NOTE
RANKED = [
    marked(FAILS, "launch", CANNOT_LAUNCH, NOTE),
    marked(FAILS, "spills", metric="vgpr_spills"),
    marked(FAILS, "scratch", metric="scratch_bytes"),
    marked(FAILS, "waves", metric="waves_per_simd"),
    marked(FAILS, "rule"),
    marked(FAILS, "warned", severity=Severity.WARNING, metric="vgpr_spills"),
    marked(FAILS, "noted", severity=NOTE),
]
"""The gravest first: what is fatal, then by severity, then by metric in the order of the budgets."""


@pytest.mark.parametrize("first", range(len(RANKED)))
def test_the_gravest_reason_is_named(first):
    """Wherever it stands, in whichever kernel."""
    left = RANKED[first:]
    backwards = kernel(*reversed(left))
    apart = [kernel(one) for one in reversed(left)]
    for kernels in ([backwards], apart):
        assert verdict(kernels, compared=True).summary.endswith(f": add on gfx942: {left[0].message}")


def test_a_compiler_s_refusal_goes_before_what_is_worse():
    """As does a kernel that cannot be launched."""
    refused = marked(FAILS, "refused", DOES_NOT_COMPILE, NOTE)
    assert verdict([kernel(FAILING, refused)], compared=True).summary.endswith("refused")


@pytest.mark.parametrize(("length", "shown"), [(300, "x" * 300), (301, "x" * 300 + "...")])
def test_a_long_reason_is_cut(length, shown):
    """The line stays one line."""
    summary = verdict([kernel(marked(FAILS, "x" * length))], compared=True).summary
    assert summary == f"regression: 1 of 1 check fail: add on gfx942: {shown}"


def test_what_could_not_run_is_noted_by_reason():
    """Rules in the order in which they were met, each once; checks that lack something counted once for a reason."""
    kernels = [
        kernel(lacking=[("KP405", "no grid"), ("KP404", "no grid"), ("KP101", "no TTGIR")]),
        kernel(lacking=[("KP404", "no grid")]),
        kernel(),
    ]
    assert not_run(kernels) == [
        "could not run in 2 of 3 checks: KP405, KP404: no grid",
        "could not run in 1 of 3 checks: KP101: no TTGIR",
    ]
    assert not_run([kernel()]) == []


def test_what_was_not_seen_goes_before_the_metric_that_is_not_known_for_it():
    """The one explains the other."""
    metric = marked(UNKNOWN, "sgpr is not known", CANNOT_TELL, Severity.WARNING, metric="vgpr_spills")
    for kernels in ([kernel(metric, UNSURE)], [kernel(metric), kernel(UNSURE)]):
        assert verdict(kernels, compared=True).summary.endswith(": who knows")


def test_what_stands_beside_an_ok():
    """Without knobs that changed, and with what else is to be said."""
    assert verdict([kernel()], compared=True).summary == "ok: 1 check, nothing is worse than the baseline"
    found = verdict([kernel()], compared=False, left_out=["one more", "another"])
    assert found.summary == "ok: 1 check, within budget; one more; another"
