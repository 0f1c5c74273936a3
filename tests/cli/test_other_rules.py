"""Rules that another distribution brings through the entry point are judged, listed and explained like kprof's own."""

import pytest

ASSEMBLY = """\t.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
\t.text
\t.globl\tk
\t.type\tk,@function
k:
\ts_endpgm
\t.section\t.rodata,"a",@progbits
\t.amdhsa_kernel k
\t\t.amdhsa_next_free_vgpr 8
\t\t.amdhsa_next_free_sgpr 16
\t.end_amdhsa_kernel
"""

MODULE = '''"""A rule of another house."""
from kprof.findings import Severity
from kprof_analyzers.rules.rule import Rule


class HouseRule(Rule):
    """The house wants to hear of every kernel."""

    id, name, severity = "ACME1", "house-rule", Severity.WARNING

    def check(self, facts):
        yield self.finding(f"{len(facts.program.instructions)} instructions")


def analyzers():
    return (HouseRule(),)
'''


@pytest.fixture
def acme(tmp_path, monkeypatch):
    """An installed distribution with one rule."""
    info = tmp_path / "acme-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[kprof.analyzers]\nacme = acme_rules\n")
    (tmp_path / "acme_rules.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)


@pytest.mark.usefixtures("acme")
def test_rules_of_other_distributions(kprof, tmp_path):
    """In the list, explained, and in a report."""
    assert "ACME1" in kprof("list", "rules").out
    explained = kprof("explain", "house-rule").out
    assert "every kernel" in explained
    # As kernels and architectures are shown.
    assert kprof("explain", "house-rule").out == explained
    file = tmp_path / "k.s"
    file.write_text(ASSEMBLY)
    assert "ACME1" in kprof("analyze", "kernel", file).out
