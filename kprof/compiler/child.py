"""A process of kprof's own with another Triton, that answers questions one at a time.

Both directions are lines of JSON. What the child prints besides goes to a file that is only read when it dies.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING, Any

from kprof import children
from kprof.compiler.installations import Environment
from kprof.errors import CompileError, KprofError

if TYPE_CHECKING:
    from typing_extensions import Self

_START = (
    f"{children.NOT_FROM_HERE}import json; sys.path[:] = json.loads(sys.argv[1]); from importlib import import_module; "
    "from kprof.children import end_with_parent; end_with_parent(); import_module(sys.argv[2]).main()"
)
# A PYTHONPATH or a user site would come before the chosen Triton; what they add is in the path that is handed over.
_DROPPED = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "TRITON_INTERPRET"}


class Child:
    """One process.

    Args:
        environment: its Triton.
        module: whose ``main()`` reads questions from standard input and answers on standard output. The last answer to
            a question has ``"kind": "done"``; ``"kind": "failed"`` with ``error`` and ``hint`` ends one early.
    """

    def __init__(self, environment: Environment, module: str) -> None:
        self.environment = environment
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the child
        variables = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        self._process = children.popen(
            [sys.executable, "-s", "-c", _START, json.dumps(environment.module_path), module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            env=variables | {"PYTHONUNBUFFERED": "1"},
            # Ctrl-C in the terminal is for this process, which then ends its children itself.
            start_new_session=True,
        )

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kill(self) -> None:
        """End the process at once; a caller that waits for an answer gets an error."""
        self._process.kill()

    def close(self) -> None:
        """End the process: by itself when its input ends, else by force."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def ask(self, question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Put a question and yield its answers, without the closing one.

        Raises:
            KprofError: the child says that it cannot answer, or died.
        """
        source, sink = self._process.stdout, self._process.stdin
        assert source is not None
        assert sink is not None
        try:
            sink.write(json.dumps(question).encode() + b"\n")
            sink.flush()
        except OSError:
            raise self._died() from None
        for line in iter(source.readline, b""):
            try:
                answer = json.loads(line)
            except ValueError:
                self.kill()
                raise self._died() from None
            if answer["kind"] == "done":
                return
            if answer["kind"] == "failed":
                raise CompileError(
                    answer["error"], path=answer.get("path"), place=answer.get("place"), hint=answer.get("hint")
                )
            yield answer
        raise self._died()

    def _died(self) -> KprofError:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self._log.seek(0)
        lines = self._log.read()[-20_000:].decode(errors="replace").strip().splitlines()
        version = self.environment.version
        return CompileError(
            f"the process with Triton {version} ended (exit status {self._process.returncode})",
            hint=lines[-1] if lines else None,
        )
