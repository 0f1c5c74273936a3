"""A repository under the gate: commits that harm fail on the right line in every format, others pass."""

import datetime as dt
import json
import re
import xml.etree.ElementTree as ET

import pytest

pytestmark = pytest.mark.triton

NARROW = "KP103"
"""The rule that tells of loads which lanes make one element at a time, with gaps."""
FILE = "kernels/scale.py"
LOAD = "x_ptr + start + offsets"
ROWS = ("markdown", "summary")
OUTPUTS = ("json", "sarif", "junit", "gitlab", "markdown")


@pytest.fixture
def guarded(repository, kprof):
    """The repository with a committed baseline."""
    ran = kprof("check", "--update-baseline")
    assert ran.code == 0, ran.err
    repository.commit("Accept the present state")
    return repository


def narrow(repository):
    """A commit that turns the wide load into narrow ones."""
    repository.edit(LOAD, f"{LOAD} * stride")
    repository.commit("Read with a stride")


def spill(repository):
    """A commit that keeps more in registers than there are."""
    repository.edit("tl.arange(0, BLOCK)", "tl.arange(0, BLOCK * 32)")
    repository.edit("tl.zeros([BLOCK]", "tl.zeros([BLOCK * 32]")
    repository.commit("Do more at a time")


def failing_rules(kprof):
    """What fails now: older Tritons make code that breaks other rules too."""
    rules = set(re.findall(r"error (KP\d+)", kprof("check").out))
    assert NARROW in rules
    return rules


def line_of(repository):
    """Where the load stands."""
    return next(n for n, text in enumerate(repository.kernel.read_text().splitlines(), 1) if "tl.load" in text)


def every_format(kprof, monkeypatch, folder):
    """Failures by format as ``(rule, file, line)``, from one run."""
    summary = folder / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    files = {name: folder / f"out.{name}" for name in OUTPUTS}
    arguments = [text for name, path in files.items() for text in (f"--{name}", path)]
    ran = kprof("check", "--github", "--no-color", *arguments)
    return ran, {
        "terminal": set(re.findall(r"^(\S+?):(\d+): error (KP\d+)", ran.out, re.MULTILINE)),
        "github": set(
            re.findall(r"^::error file=([^,]+),line=(\d+),(?:col=\d+,)?title=(KP\d+)", ran.out, re.MULTILINE)
        ),
        "json": {
            (f["location"]["file"], str(f["location"]["line"]), f["rule"])
            for kernel in json.loads(files["json"].read_text())["kernels"]
            for f in kernel["findings"]
            if f["severity"] == "error"
        },
        "sarif": {
            (
                r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"],
                str(r["locations"][0]["physicalLocation"]["region"]["startLine"]),
                r["ruleId"],
            )
            for run in json.loads(files["sarif"].read_text())["runs"]
            for r in run["results"]
            if r["level"] == "error"
        },
        "gitlab": {
            (i["location"]["path"], str(i["location"]["lines"]["begin"]), i["check_name"].split()[0])
            for i in json.loads(files["gitlab"].read_text())
            if i["severity"] == "critical"
        },
        "junit": {
            found
            for failure in ET.parse(files["junit"]).iter("failure")
            for found in re.findall(r"^(\S+?):(\d+): (KP\d+)", failure.text, re.MULTILINE)
        },
        "markdown": _rows(files["markdown"].read_text()),
        "summary": _rows(summary.read_text()),
    }


def _rows(text):
    """Each rule of a kernel's row with each of its lines; a metric before and after is ``KP012``."""
    found = set()
    table = text.partition("| kernel | arch | what is worse |")[2].partition("\n\n")[0]
    for row in table.splitlines()[2:]:
        worse, places = re.split(r"(?<!\\)\|", row)[3], row.rpartition("` |")[0].rpartition("| ")[2]
        rules = {*re.findall(r"\bKP\d+", worse), *(["KP012"] if " → " in worse else [])}
        found |= {(*place, rule) for place in re.findall(r"`?([^`:, ]+):(\d+)", places) for rule in rules}
    return found


def test_nothing_changed_passes(guarded, kprof):
    """The committed state is what the baseline says."""
    ran = kprof("check")
    assert ran.code == 0, ran.out
    assert ran.out.splitlines()[-1].split(";")[0] == "ok: 2 checks, nothing is worse than the baseline"


def test_narrow_loads_fail_on_their_line_in_every_format(guarded, kprof, monkeypatch, tmp_path):
    """A dwordx4 load taken apart is reported where the load is, on both architectures."""
    narrow(guarded)
    ran, found = every_format(kprof, monkeypatch, tmp_path)
    assert ran.code == 1
    expected = (FILE, str(line_of(guarded)), NARROW)
    for name, failures in found.items():
        assert expected in failures, name
        # A kernel's row in Markdown names its rules and its lines apart.
        assert failures >= found["json"] if name in ROWS else failures == found["json"], name
    assert ran.out.splitlines()[-1].startswith("regression: 2 of 2 checks fail: ")


def test_spills_fail_on_their_line_in_every_format(guarded, kprof, monkeypatch, tmp_path):
    """Spilling is reported by the rule and by the metric, on the line that spills."""
    spill(guarded)
    ran, found = every_format(kprof, monkeypatch, tmp_path)
    assert ran.code == 1
    line = str(line_of(guarded))
    for name, failures in found.items():
        assert {(FILE, line, "KP301"), (FILE, line, "KP012")} <= failures, name
        # A kernel's row in Markdown names its rules and its lines apart.
        assert failures >= found["json"] if name in ROWS else failures == found["json"], name
    assert re.search(r"error KP012 worse-than-baseline: [\d,]+ VGPRs spilled, the baseline has 0", ran.out)


def test_unrelated_commit_passes(guarded, kprof):
    """Moved lines, comments and another function change nothing."""
    guarded.edit("@triton.jit", "# Sums blocks.\nVERSION = 2\n\n\n@triton.jit")
    guarded.edit(f"tl.load({LOAD})", f"tl.load({LOAD})  # one block")
    (guarded.root / "README.md").write_text("A kernel.\n")
    guarded.commit("Explain")
    ran = kprof("check", "-v")
    assert ran.code == 0, ran.out
    assert "error" not in ran.out


def test_ignore_with_a_reason_passes(guarded, kprof, tmp_path):
    """The comment silences the rule there, and the reason reaches the document and SARIF."""
    # More address registers cost a wavefront with some Tritons, which no ignore of a rule covers.
    guarded.edit('baseline = "', 'watch = ["vgpr_spills"]\nbaseline = "', guarded.config)
    narrow(guarded)
    rules = ",".join(sorted(failing_rules(kprof)))
    guarded.edit("stride)", f"stride)  # kprof: ignore[{rules}] the caller's layout is given")
    ran = kprof("check", "--json", tmp_path / "out.json", "--sarif", tmp_path / "out.sarif", "--sarif-suppressed")
    assert ran.code == 0, ran.out
    assert "; ignored in the source: 1 (new in this change)" in ran.out
    kernel = json.loads((tmp_path / "out.json").read_text())["kernels"][0]
    silenced = {s["finding"]["rule"]: s["reason"] for s in kernel["suppressed"]}
    assert silenced[NARROW] == "the caller's layout is given"
    results = json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]
    kinds = {r["ruleId"]: r["suppressions"][0]["kind"] for r in results if "suppressions" in r}
    assert kinds[NARROW] == "inSource"


def test_what_the_baseline_has_is_suppressed_from_outside(guarded, kprof, tmp_path):
    """SARIF tells the baseline from a comment; without the option there are no results at all."""
    kprof("check", "--sarif", tmp_path / "all.sarif", "--sarif-suppressed")
    results = json.loads((tmp_path / "all.sarif").read_text())["runs"][0]["results"]
    assert results
    assert all(r["suppressions"][0]["kind"] == "external" for r in results)
    kprof("check", "--sarif", tmp_path / "out.sarif")
    assert not json.loads((tmp_path / "out.sarif").read_text())["runs"][0]["results"]


def test_ignore_without_a_reason_fails(guarded, kprof):
    """A silent ignore is none."""
    narrow(guarded)
    guarded.edit("stride)", f"stride)  # kprof: ignore[{','.join(sorted(failing_rules(kprof)))}]")
    ran = kprof("check")
    assert ran.code == 1
    assert "its ignore comment gives no reason" in ran.out


@pytest.mark.parametrize(("days", "code"), [(1, 0), (0, 0), (-1, 1)])
def test_allowance_holds_until_its_date(guarded, kprof, days, code):
    """The last day still counts; from then on the regression fails again and says why."""
    narrow(guarded)
    until = dt.datetime.now(dt.timezone.utc).date() + dt.timedelta(days=days)
    for rule in failing_rules(kprof):
        allowance = f'\n[[tool.kprof.allow]]\nwhat = "{rule}"\nreason = "new layout lands soon"\nuntil = {until}\n'
        guarded.config.write_text(guarded.config.read_text() + allowance)
    ran = kprof("check")
    assert ran.code == code, ran.out
    assert (f"its allowance ended on {until} (new layout lands soon)" in ran.out) == (code == 1)


def test_new_baseline_accepts_and_its_difference_is_small(guarded, kprof):
    """Only what changed is another line of the file, and writing it twice changes nothing."""
    path = guarded.root / "kprof-baseline.json"
    before = path.read_text().splitlines()
    narrow(guarded)
    assert kprof("check", "--update-baseline").code == 0
    after = path.read_text()
    assert len(before) / 2 < sum(line in after.splitlines() for line in before)
    assert NARROW in after
    assert kprof("check").code == 0
    assert "nothing changed" in kprof("check", "--update-baseline").out
    assert path.read_text() == after


def test_two_runs_give_the_same_documents(guarded, kprof, tmp_path):
    """Neither times nor the cache's state show in any output."""
    narrow(guarded)
    texts = []
    for _ in range(2):
        kprof("check", *(text for name in OUTPUTS for text in (f"--{name}", tmp_path / name)))
        texts.append([(tmp_path / name).read_text() for name in OUTPUTS])
    assert texts[0] == texts[1]
    assert not [place for place in (tmp_path, guarded.root.parent) if str(place) in "".join(texts[0])]


def test_sarif_is_valid(guarded, kprof, tmp_path, sarif_schema):
    """The official schema takes what a failing run writes."""
    from jsonschema import Draft4Validator

    spill(guarded)
    kprof("check", "--sarif", tmp_path / "out.sarif", "--sarif-suppressed")
    document = json.loads((tmp_path / "out.sarif").read_text())
    Draft4Validator(sarif_schema).validate(document)
    assert [run["automationDetails"]["id"] for run in document["runs"]] == ["kprof/gfx942/", "kprof/gfx950/"]


def test_a_kernel_that_the_compiler_refuses_fails_on_its_line(guarded, kprof):
    """No baseline is needed for that; the other kernel is judged, and one that cannot be imported is not told."""
    broken = guarded.kernel.with_name("broken.py")
    broken.write_text(guarded.kernel.read_text().replace("tl.load(", "tl.no_such_thing("))
    table = guarded.config.read_text().split("[[tool.kprof.kernel]]")[1]
    guarded.config.write_text(
        guarded.config.read_text() + "\n[[tool.kprof.kernel]]" + table.replace("scale.py", "broken.py")
    )
    ran = kprof("check")
    assert ran.code == 1
    assert f"kernels/broken.py:{line_of(guarded)}: error KP015 does-not-compile: does not compile: " in ran.out
    assert ran.out.splitlines()[-1].startswith("regression: 2 of 4 checks fail: ")
    broken.write_text("import no_such_module_at_all\n")
    ran = kprof("check")
    assert ran.code == 2
    assert ran.out.splitlines()[-1].startswith("cannot tell: 2 of 4 checks could not be judged: ")
    narrow(guarded)
    assert kprof("check").code == 1


def test_compiler_abort_is_one_kernels_cannot_tell(guarded, kprof):
    """A compiler process that dies by signal 6 leaves the verdict on the others."""
    crash = guarded.kernel.with_name("crash.py")
    # Compiler processes are started with -c.
    deadly = 'import os\nimport sys\n\nif sys.argv[0] == "-c":\n    os.abort()\n\n\n@triton.jit'
    crash.write_text(guarded.kernel.read_text().replace("@triton.jit", deadly))
    table = guarded.config.read_text().split("[[tool.kprof.kernel]]")[1]
    guarded.config.write_text(
        guarded.config.read_text() + "\n[[tool.kprof.kernel]]" + table.replace("scale.py", "crash.py")
    )
    ran = kprof("check")
    assert ran.code == 2
    assert "signal 6" in ran.out
    assert ran.out.splitlines()[-1].startswith("cannot tell: 2 of 4 checks could not be judged:")
