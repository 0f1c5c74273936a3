"""The command as it was typed, with a further option."""

import sys

import pytest

from kprof.output.command_line import with_option


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        (["/usr/bin/kprof", "tune", "gemm"], "kprof tune gemm --verify"),
        (["kprof", "profile", "--", "python", "my program.py"], "kprof profile --verify -- python 'my program.py'"),
        (["/x/kprof/__main__.py", "tune", "a;b"], "kprof tune 'a;b' --verify"),
        (["pytest", "tests"], "the same call with --verify"),
    ],
)
def test_the_option_comes_before_a_program(monkeypatch, typed, shown):
    """And what a shell would take apart is quoted."""
    monkeypatch.setattr(sys, "argv", typed)
    assert with_option("--verify") == shown
