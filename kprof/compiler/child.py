"""A kprof child process with another Triton, which answers questions one at a time.

Both directions use lines of JSON. Other output of the child goes to a file that is read only if the child dies.
"""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kprof.children import PythonWorker
from kprof.compiler.installations import Environment
from kprof.errors import CompileError, KprofError

if TYPE_CHECKING:
    from typing_extensions import Self

# PYTHONPATH or a user site would come before the chosen Triton. Their entries are already in the path passed to the
# child.
_DROPPED = {"PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "TRITON_INTERPRET"}


class Child:
    """One child process.

    Args:
        environment: the child's Triton.
        module: module whose ``main()`` reads questions from standard input and answers on standard output. The last
            answer to a question has ``"kind": "done"``; ``"kind": "failed"`` with ``error`` and ``hint`` ends a
            question early.
    """

    def __init__(self, environment: Environment, module: str) -> None:
        self.environment = environment
        variables = {name: value for name, value in os.environ.items() if name not in _DROPPED}
        self._process = PythonWorker(
            module,
            path=environment.module_path,
            environment=variables | {"PYTHONUNBUFFERED": "1"},
            flags=["-s"],
            log=True,
        )

    def __enter__(self) -> "Self":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def kill(self) -> None:
        """Kill the process; a caller that waits for an answer gets an error."""
        self._process.kill()

    def close(self) -> None:
        """End the process: close its input, and kill it if it does not end then."""
        self._process.end(patience=2)

    def ask(self, question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a question and yield its answers, without the closing one.

        Raises:
            KprofError: if the child reports an error, or died.
        """
        try:
            self._process.stdin.write(json.dumps(question).encode() + b"\n")
        except OSError:
            raise self._died() from None
        for line in iter(self._process.line, b""):
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
            self._process.process.wait(timeout=5)
        lines = self._process.printed().splitlines()
        version = self.environment.version
        return CompileError(
            f"the process with Triton {version} ended (exit status {self._process.process.returncode})",
            hint=lines[-1] if lines else None,
        )
