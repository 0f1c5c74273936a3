"""Run tasks in a separate process, and start another one when it dies."""

import contextlib
import json
import os
import queue
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from kprof.bench.document import BenchTask, Device, Measurement
from kprof.children import PythonWorker, ending
from kprof.errors import HardwareError, KprofError

STARTUP_SECONDS = 300.0
"""Maximum seconds for importing torch and finding the GPU."""


class Runner:
    """A worker process for measurements; started on demand and again after it has died.

    Args:
        timeout: maximum seconds for one task, including compiling and checking.
        gpu: index of the GPU to measure on, from 0 among those that torch sees.
    """

    def __init__(self, timeout: float = 600.0, gpu: int = 0) -> None:
        self.timeout = timeout
        self.gpu = gpu
        self._process: PythonWorker | None = None
        self._lines: queue.Queue[bytes | None] = queue.Queue()

    def __enter__(self) -> "Runner":  # noqa: PYI034 - Self needs Python 3.11
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker process."""
        process, self._process = self._process, None
        if process is not None:
            process.end()

    def describe(self, given: dict[str, Any], *, measure: bool) -> Device:
        """Return the GPU with its limits.

        Args:
            given: limits set by the user, which override known ones.
            measure: whether to measure limits that are not known.

        Raises:
            HardwareError: there is no usable GPU, or the process died while looking for it.
            KprofError: a given limit is invalid.
        """
        reply = self._ask({"kind": "describe", "given": given, "measure": measure}, STARTUP_SECONDS)
        if "device" in reply:
            return msgspec.convert(reply["device"], Device)
        if "failure" in reply:
            failure = reply["failure"]
            raise (HardwareError if failure["hardware"] else KprofError)(failure["message"], hint=failure["hint"])
        raise HardwareError(f"looking for a GPU failed: {reply.get('device_failure') or reply['died']}")

    def measure(self, task: BenchTask, begin: Callable[[], None] | None = None) -> Measurement:
        """Run a task; if the process dies, the result says so, and later tasks get a new process.

        Args:
            task: the task.
            begin: for a task with ``together``: function that is called before the first sample, and returns when all
                GPUs may begin.
        """
        reply = self._ask({"kind": "measure", "task": msgspec.to_builtins(task)}, self.timeout, begin)
        if "measurement" in reply:
            return msgspec.convert(reply["measurement"], Measurement)
        name = task.target.rpartition("/")[2].removesuffix(".py")
        lost = Measurement(name, task.case, task.shape, task.provider, "crashed", config=task.config)
        if "failure" in reply:
            text = ": ".join(filter(None, (reply["failure"]["message"], reply["failure"]["hint"])))
            return msgspec.structs.replace(lost, status="error", message=text)
        if reply.get("late"):
            return msgspec.structs.replace(lost, status="timeout", message=f"took longer than {self.timeout:g} s")
        message = f"the GPU failed: {reply['device_failure']}" if "device_failure" in reply else reply["died"]
        return msgspec.structs.replace(lost, message=message)

    def _ask(self, request: dict[str, Any], timeout: float, begin: Callable[[], None] | None = None) -> dict[str, Any]:
        process = self._process or self._start()
        try:
            process.stdin.write(json.dumps({**request, "gpu": self.gpu}).encode() + b"\n")
            line = self._lines.get(timeout=timeout)
            if begin is not None and line is not None and "ready" in json.loads(line):
                begin()
                process.stdin.write(b"go\n")
                line = self._lines.get(timeout=timeout)
        except queue.Empty:
            self.close()
            return {"late": True, "died": f"no answer within {timeout:g} s"}
        except OSError:
            line = None
        if line is None:
            return {"died": self._reason_of_death(process)}
        reply: dict[str, Any] = json.loads(line)
        if "device_failure" in reply:
            self.close()
        return reply

    def _start(self) -> PythonWorker:
        environment = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
        # AMD GPUs multiply float32 in full precision; on other GPUs Triton's default is TF32.
        environment.setdefault("TRITON_F32_DEFAULT", "ieee")
        process = PythonWorker("kprof.bench.worker", environment=environment, log=True)
        lines: queue.Queue[bytes | None] = queue.Queue()
        threading.Thread(target=_read, args=(process, lines), daemon=True).start()
        self._process, self._lines = process, lines
        return process

    def _reason_of_death(self, process: PythonWorker) -> str:
        """Return why the process died: its signal or exit status, and the last line that it printed."""
        code = process.process.wait()
        printed = process.printed(1 << 14).splitlines()
        last = next((line.strip() for line in reversed(printed) if line.strip()), "")
        self.close()
        return f"the process crashed: {ending(code)}" + (f"; its last output: {last[:300]}" if last else "")


def _read(process: PythonWorker, lines: "queue.Queue[bytes | None]") -> None:
    with contextlib.suppress(OSError, ValueError):
        for line in iter(process.line, b""):
            lines.put(line)
    lines.put(None)
