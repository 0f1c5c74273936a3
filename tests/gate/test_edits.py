"""A cure as a change of lines."""

import ast
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kprof.document import KernelReport, Report, Verdict
from kprof.findings import Advice, Edit, Finding, Location, Severity
from kprof.gate.cures import edits
from kprof.reporters.markdown import MarkdownReporter
from kprof.reporters.sarif import SarifReporter


@pytest.mark.parametrize(
    ("name", "text", "after"),
    [
        ("k.py", "BK = 64", "BK = 32"),
        ("k.py", "BK: tl.constexpr = 64  # the tile", "BK: tl.constexpr = 32  # the tile"),
        ("k.py", 'config={"BK": 64, "num_warps": 4}', 'config={"BK": 32, "num_warps": 4}'),
        ("k.py", "kernel[grid](x, BK=64)", "kernel[grid](x, BK=32)"),
        ("k.toml", "config = {BK = 64, num_warps = 4}", "config = {BK = 32, num_warps = 4}"),
        ("k.py", "BK = 640", None),
        ("k.py", "BK == 64", None),
        ("k.py", "XBK = 64", None),
        ("k.py", "self.BK = 64", None),
        ("k.py", "# BK = 64", None),
        ("k.py", "BK = 64 if big else 32; BK = 64", None),
        ("k.py", 'BK = "64"', None),
        ("k.py", "BK = 64.5", None),
        ("k.py", "", None),
    ],
)
def test_the_one_line_that_sets_a_knob(tmp_path, name, text, after):
    """By assignment, keyword, dictionary or table; none where there is no such line or two places."""
    path = tmp_path / name
    path.write_text(f"first\n    {text}\n")
    found = edits({"BK": 32}, {"BK": 64}, [path])
    expected = {} if after is None else {"BK": Edit(str(path), 2, f"    {text}", f"    {after}")}
    assert found == expected


def test_all_knobs_or_none(tmp_path):
    """Two on one line are one change; a knob that was not set has no line; two lines for one are doubtful."""
    path = tmp_path / "k.py"
    path.write_text('{"BK": 64, "num_warps": 8}\n')
    found = edits({"BK": 32, "num_warps": 4}, {"BK": 64, "num_warps": 8}, [path, path])
    (change,) = set(found.values())
    assert (change.after, sorted(found)) == ('{"BK": 32, "num_warps": 4}', ["BK", "num_warps"])
    assert edits({"BK": 32, "waves_per_eu": 2}, {"BK": 64, "waves_per_eu": None}, [path]) == {}
    path.write_text("BK = 64\nBK = 64\n")
    assert edits({"BK": 32}, {"BK": 64}, [path]) == {}
    assert edits({"BK": 32}, {"BK": 64}, [tmp_path / "no.py", tmp_path]) == {}


@pytest.mark.parametrize(
    ("name", "old", "new", "before", "after"),
    [
        ("k.toml", True, False, "config = {F = true}", "config = {F = false}"),
        ("k.py", True, False, "F = True", "F = False"),
        ("k.py", "bf16", "it's", 'F = "bf16"', 'F = "it\'s"'),
        ("k.toml", "bf16", "fp16", 'F = "bf16"', 'F = "fp16"'),
        ("k.toml", True, False, "F = True", None),
        ("k.py", True, False, "F = true", None),
    ],
)
def test_values_in_the_files_own_language(tmp_path, name, old, new, before, after):
    """TOML's truth is not Python's."""
    path = tmp_path / name
    path.write_text(before + "\n")
    assert edits({"F": new}, {"F": old}, [path]) == ({} if after is None else {"F": Edit(str(path), 1, before, after)})


@pytest.mark.parametrize(("more", "found"), [(0, 1), (1, 0)])
def test_a_file_of_more_than_a_mebibyte_is_not_searched(tmp_path, more, found):
    """It is no source."""
    path = tmp_path / "k.py"
    path.write_text("BK = 64\n".ljust((1 << 20) + more, "#"))
    assert len(edits({"BK": 32}, {"BK": 64}, [path])) == found


VALUES = st.one_of(st.integers(-5, 4096), st.booleans(), st.sampled_from(["fp16", "it's", ""]), st.floats(0.5, 9))


@given(st.dictionaries(st.sampled_from(["BM", "BN", "BK"]), st.tuples(VALUES, VALUES), min_size=1))
def test_python_reads_the_new_values(tmp_path_factory, knobs):
    """What is edited is Python's own literal of the new value, and the rest of the line stays."""
    path = tmp_path_factory.mktemp("edits") / "k.py"
    old = {name: before for name, (before, _) in knobs.items()}
    new = {name: after for name, (_, after) in knobs.items()}
    items = (f'"{name}": {json.dumps(v) if isinstance(v, str) else repr(v)}' for name, v in old.items())
    path.write_text(f"CONFIG = {{{', '.join(items)}}}\n")
    found = edits(new, old, [path])
    (change,) = set(found.values())
    assert ast.literal_eval(change.before.removeprefix("CONFIG = ")) == old
    assert ast.literal_eval(change.after.removeprefix("CONFIG = ")) == new


def report(*advice):
    """A document with one failure that has this advice."""
    finding = Finding(
        rule="KP011",
        name="over-budget",
        severity=Severity.ERROR,
        message="9 VGPRs spilled",
        location=Location("k.py", 7),
        evidence={"gate": "fails", "metric": "vgpr_spills"},
        advice=list(advice),
    )
    kernel = KernelReport(name="add", arch="gfx942", findings=[finding, finding])
    return Report(kprof="0", kernels=[kernel], verdict=Verdict(status="regression", summary="regression"))


EDIT = Edit("k.py", 3, "    BK = 64  # `x`", "    BK = 32  # `x`")
CURE = Advice(knob="BK", from_=64, to=32, verified={"vgpr_spills": (9, 0)}, edit=EDIT)


def test_a_verified_cure_is_a_suggestion_and_a_fix():
    """Once in a comment, at each result in SARIF."""
    text = MarkdownReporter().render(report(CURE))
    assert text.count("```suggestion\n    BK = 32  # `x`\n```\n") == 1
    assert "`k.py:3`" in text
    results = json.loads(SarifReporter().render(report(CURE)))["runs"][0]["results"]
    assert [result["fixes"][0]["artifactChanges"] for result in results] == [
        [
            {
                "artifactLocation": {"uri": "k.py", "uriBaseId": "%SRCROOT%"},
                "replacements": [
                    {
                        "deletedRegion": {"startLine": 3, "startColumn": 1, "endLine": 3, "endColumn": 19},
                        "insertedContent": {"text": "    BK = 32  # `x`"},
                    }
                ],
            }
        ]
    ] * 2


@pytest.mark.parametrize(
    "advice",
    [
        [msgspec.structs.replace(CURE, edit=msgspec.UNSET)],
        [msgspec.structs.replace(CURE, verified=msgspec.UNSET)],
        [CURE, Advice(knob="num_warps", from_=8, to=4, verified={"vgpr_spills": (9, 0)})],
        [],
    ],
)
def test_half_a_cure_is_none(advice):
    """Not compiled, or not all of it a line: words only."""
    assert "suggestion" not in MarkdownReporter().render(report(*advice))
    assert '"fixes"' not in SarifReporter().render(report(*advice))


def test_a_line_with_a_fence_does_not_end_the_suggestion():
    """The fence is longer than any run of backticks in the line."""
    odd = msgspec.structs.replace(CURE, edit=msgspec.structs.replace(EDIT, after="BK = 32  # ````"))
    assert "`````suggestion\nBK = 32  # ````\n`````\n" in MarkdownReporter().render(report(odd))
