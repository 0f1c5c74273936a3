"""The pytest plug-in: ``pytest --kprof``, the marker behind ``kprof.budget``, and the fixture ``kprof_capture``.

Every pytest run loads this module if kprof is installed, so it imports other kprof modules only when a test needs them.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kprof.hardware.default import DEFAULT_GPU

if TYPE_CHECKING:
    from kprof.captures.model import Capture
    from kprof.document import KernelReport
    from kprof.gate.config import Budget

_MARKER = "kprof_budget"


@dataclass(frozen=True)
class PytestRecording:
    """Recording of the launches inside ``with kprof_capture() as recorded:``, to be queried afterwards.

    Attributes:
        path: the capture's directory.
    """

    path: Path

    @property
    def capture(self) -> "Capture":
        """The capture: kernels, launches, grids, arguments.

        Raises:
            KprofError: the capture cannot be read.
        """
        from kprof.captures.reader import read

        return read(self.path)

    @property
    def kernels(self) -> "list[KernelReport]":
        """The report of each launched kernel: resources, occupancy, loops, findings.

        Raises:
            KprofError: a kernel did not compile.
        """
        from kprof.gate.launched import reports

        return reports(self.capture)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add kprof's options to pytest."""
    group = parser.getgroup("kprof", "kernels for AMD GPUs, without a GPU")
    group.addoption("--kprof", action="store_true", help="Record marked tests without a GPU, and check their budgets.")
    group.addoption(
        "--kprof-arch", default=DEFAULT_GPU, metavar="ARCH", help=f"Architecture or product ({DEFAULT_GPU})."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers", f"{_MARKER}(arch=None, **limits): limits of the kernels that a test launches, under --kprof"
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    """Return the header line with the GPU that marked tests are recorded for."""
    return f"kprof: budgets are checked for {config.getoption('--kprof-arch')}" if config.getoption("--kprof") else None


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report the number of budgets without effect: their tests were skipped, deselected or expected to fail."""
    if not terminalreporter.config.getoption("--kprof"):
        return
    found = {
        outcome: sum(_MARKER in getattr(report, "keywords", {}) for report in terminalreporter.getreports(outcome))
        for outcome in ("passed", "failed", "error", "skipped", "xfailed", "xpassed", "deselected")
    }
    unseen = [f"{found[outcome]} {outcome}" for outcome in ("skipped", "xfailed", "deselected") if found[outcome]]
    if unseen:
        terminalreporter.write_line(f"kprof: tests whose budgets do not count: {', '.join(unseen)}", yellow=True)
    if not any(found[outcome] for outcome in ("passed", "failed", "error", "xpassed")):
        terminalreporter.write_line("kprof: no test with a budget was run: nothing was checked", yellow=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Record a marked test, and compare its launches with its budget."""
    marks = list(item.iter_markers(_MARKER)) if item.config.getoption("--kprof") else []
    if not marks:
        return (yield)
    from kprof.errors import KprofError
    from kprof.gate.launched import broken

    try:
        arch, budget = _limits(item, marks)
        recording = _recording(item.config, arch)
        recorded = recording.__enter__()
    except KprofError as error:
        raise pytest.fail.Exception(f"kprof: {error}", pytrace=False) from None
    try:
        result = yield
    finally:
        recording.__exit__(None, None, None)
    try:
        found = list(broken(recorded.capture, budget))
    except KprofError as error:
        found = [str(error)]
    if found:
        pytest.fail("\n".join(f"kprof: {text}" for text in found), pytrace=False)
    return result


def _limits(item: pytest.Item, marks: Sequence[pytest.Mark]) -> "tuple[str, Budget]":
    """Return the architecture and budget of a test. A test's own mark overrides its class's and its module's."""
    from kprof.errors import KprofError
    from kprof.gate.launched import budget_of

    if any(mark.args for mark in marks):
        raise KprofError(f"{_MARKER} takes limits by name: vgpr_spills=0")
    limits = {name: value for mark in reversed(marks) for name, value in mark.kwargs.items()}
    arch = limits.pop("arch", None) or item.config.getoption("--kprof-arch")
    return str(arch), budget_of(limits)


@pytest.fixture
def kprof_capture(request: pytest.FixtureRequest) -> Callable[..., AbstractContextManager[PytestRecording]]:
    """Return a function for ``with`` statements that records the launches inside, without a GPU.

    Its argument ``arch`` is the GPU, by default ``--kprof-arch``. ``as`` assigns a :class:`PytestRecording`.
    """

    def record(arch: str | None = None) -> AbstractContextManager[PytestRecording]:
        return _recording(request.config, arch or str(request.config.getoption("--kprof-arch")))

    return record


@contextmanager
def _recording(config: pytest.Config, arch: str) -> Iterator[PytestRecording]:
    import shutil
    import tempfile

    from kprof.recording.scope import capture

    folder = Path(tempfile.mkdtemp(prefix="kprof-test-"))
    # Tests read the recording after the ``with`` statement, so its folder is deleted only at the end of the session.
    config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    with capture(arch, folder / "capture", execute=False) as recording:
        yield PytestRecording(recording.path)
