"""``%kprof`` and ``%%kprof``: the words of the command, the kernels of a cell, and one line for what is wrong."""

from types import SimpleNamespace
from typing import Any

import pytest

import kprof
from kprof import notebook
from kprof.errors import TargetError
from kprof.options.kernels import AnalyzeOptions


class Shell:
    """What a magic uses of IPython's shell: a cell is run by ``exec`` in the user's names."""

    def __init__(self, **names: Any) -> None:
        self.user_ns = names
        self.displayhook = SimpleNamespace(exec_result="the outer cell's")
        self.magics: dict[str, Any] = {}

    def register_magic_function(self, function: Any, kind: str, name: str) -> None:
        self.magics[f"{kind} {name}"] = function

    def run_cell(self, cell: str, *, silent: bool) -> Any:
        assert silent
        self.displayhook.exec_result = None
        try:
            exec(cell, self.user_ns)
        except ValueError:
            return SimpleNamespace(success=False)
        return SimpleNamespace(success=True)


def jit(first_line: int) -> Any:
    """A stand-in of Triton's wrapper, as far as it is looked at."""
    made = type("JITFunction", (), {"__module__": "triton.runtime.jit"})()
    made.fn = SimpleNamespace(__code__=SimpleNamespace(co_firstlineno=first_line))
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What ``kprof.analyze`` is asked, in place of an answer."""
    found: list[Any] = []
    monkeypatch.setattr("kprof.api.analyze.analyze", lambda *targets, **options: found.append((targets, options)))
    return found


def test_load_ext_registers_both() -> None:
    """IPython imports ``kprof`` and calls what it finds there."""
    shell = Shell()
    kprof.load_ipython_extension(shell)  # type: ignore[attr-defined]
    assert list(shell.magics) == ["line_cell kprof"]


@pytest.mark.parametrize(
    ("line", "targets", "options"),
    [
        ("softmax", ("softmax",), {}),
        ("softmax gemm -a MI300X --no-try", ("softmax", "gemm"), {"arch": "MI300X", "try_cures": False}),
        ("a.py::fn -c BLOCK=1 -c X=2 -j 3", ("a.py::fn",), {"config": ["BLOCK=1", "X=2"], "jobs": 3}),
        ("k --all-configs --fail-on error softmax", ("k", "softmax"), {"all_configs": True, "fail_on": "error"}),
        ("k --time-limit 2.5 --grid 'cdiv(M,32);2'", ("k",), {"time_limit": 2.5, "grid": "cdiv(M,32);2"}),
    ],
)
def test_words_are_those_of_the_command(asked: list[Any], line: str, targets: Any, options: dict[str, Any]) -> None:
    """Values are read by the options themselves, so that those that can be written in several ways stay text."""
    notebook.run(Shell(), line, None)
    assert asked == [(targets, options)]
    # What analyze does with them: every value is one that its option takes.
    assert AnalyzeOptions(**options).given().keys() == options.keys()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "needs a target"),
        ("softmax --nope", "unrecognized arguments: --nope"),
        ("softmax 'a", "No closing quotation"),
        ("softmax --jobs many", "invalid int value"),
        ("softmax --con BLOCK=1", "unrecognized arguments"),
    ],
)
def test_a_wrong_line_is_one_message(asked: list[Any], line: str, message: str) -> None:
    """No option is guessed by its first letters."""
    with pytest.raises(TargetError, match=message):
        notebook.run(Shell(), line, None)
    assert not asked


def test_the_magic_shows_a_message_without_a_traceback() -> None:
    """As IPython shows the wrong use of its own magics."""
    error = pytest.importorskip("IPython.core.error")
    shell = Shell()
    notebook.load_ipython_extension(shell)
    with pytest.raises(error.UsageError, match="needs a target"):
        shell.magics["line_cell kprof"]("", None)


def test_with_types_the_last_kernel_of_the_cell_is_compiled(asked: list[Any]) -> None:
    """Or the named ones; what was there before, and what only looks like a name of Python's, is none of the cell's."""
    old, helper, last = jit(90), jit(1), jit(7)
    shell = Shell(old=old, made={"last": last, "helper": helper, "_7": jit(99)}, here=globals())
    cell = "last, helper, _7, text = made['last'], made['helper'], made['_7'], 'x'"
    notebook.run(shell, "--signature '*fp16'", cell)
    assert asked.pop() == ((last,), {"signature": "*fp16"})
    assert shell.displayhook.exec_result == "the outer cell's"
    notebook.run(shell, "helper old --signature '*fp16'", cell)
    assert asked.pop()[0] == (helper, old)
    for line, code, message in (
        ("--signature i32", "1", "defines no kernel"),
        ("gone --signature i32", "1", "no gone"),
    ):
        with pytest.raises(TargetError, match=message):
            notebook.run(shell, line, code)
    assert notebook.run(shell, "--signature i32", "raise ValueError") is None
    assert not asked


def test_an_autotuned_kernel_is_looked_through() -> None:
    """Its function is that of the wrapper in it."""
    outer = SimpleNamespace(fn=jit(12))
    assert notebook._line(outer) == 12
