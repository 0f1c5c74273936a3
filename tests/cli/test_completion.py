"""What a shell offers when Tab is pressed."""

import pytest


@pytest.fixture
def offered(kprof, monkeypatch):
    """The words offered for the last one of a command line, without their descriptions."""

    def ask(line: str) -> list[str]:
        words = line.split(" ")
        monkeypatch.setenv("_KPROF_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", line)
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        ran = kprof()
        assert ran.code == 0, ran.err
        assert not ran.err
        return ran.out.split()

    return ask


def test_commands(offered):
    assert offered("kprof an") == ["analyze"]
    assert {"top", "diff", "breakdown"} <= set(offered("kprof trace "))


def test_options(offered):
    assert set(offered("kprof analyze kernel gemm --sh")) == {"--shape"}


def test_targets_are_bundled_kernels(offered):
    assert offered("kprof analyze kernel flash_att") == ["flash_attention"]
    assert "gemm" in offered("kprof advise gem")


def test_nothing_is_offered_where_a_shell_should_offer_files(offered):
    assert offered("kprof analyze kernel ./my") == []


def test_parts_are_offered_once_a_colon_is_typed(offered):
    assert offered("kprof analyze kernel gemm:") == ["gemm::reduce"]


def test_cases_are_those_of_the_kernel_named(offered):
    found = offered("kprof analyze kernel flash_attention --case d256")
    assert "d256_s4096" in found
    assert all(case.startswith("d256") for case in found)
    assert offered("kprof analyze kernel mine.py --case d") == []


def test_a_product_behind_a_comma(offered):
    assert offered("kprof analyze kernel softmax --arch gfx942,MI355") == ["gfx942,MI355X"]
    assert "gfx1201" in offered("kprof list gpus gfx12")


def test_rules(offered):
    found = offered("kprof explain KP30")
    assert found[0] == "KP301"
    assert all(rule.startswith("KP30") for rule in found)


def test_no_compiler_is_loaded_to_complete_a_target(kprof_in_child):
    """Tab has to answer at once: neither Triton, torch nor pandas is needed for names."""
    code = (
        "import os, sys\n"
        "os.environ.update(_KPROF_COMPLETE='complete_bash', COMP_WORDS='kprof advise g', COMP_CWORD='2')\n"
        "from kprof.cli.app import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('triton', 'torch', 'pandas', 'numpy') if name in sys.modules])"
    )
    assert kprof_in_child(code).splitlines()[-1] == "[]"


@pytest.fixture
def kprof_in_child():
    """Run Python code in a process of its own; what it prints."""
    import subprocess
    import sys

    def run(code: str) -> str:
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    return run
