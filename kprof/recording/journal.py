"""Write a process's journal: one JSON object per line, each line in one write. Imports only the standard library."""

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kprof.captures import layout


class CaptureJournal:
    """An append-only file of this process. Whatever happens to the process, all earlier lines are complete.

    A full disk ends the recording, not the program; :attr:`broken` then contains the reason.
    """

    def __init__(self, folder: Path) -> None:
        # Files are read in the order of their names. Process numbers are reused and sort as text, so the time
        # comes first.
        name = f"{time.time_ns():020d}-{os.getpid()}-{os.urandom(4).hex()}.jsonl"
        self.path = folder / layout.JOURNAL / name
        self.pid = os.getpid()
        self.broken: str | None = None
        self._lock = threading.Lock()
        self._file = -1
        self._numbers: dict[str, dict[Any, int]] = {}

    def write(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Append a line."""
        if self.broken is not None:
            return
        text = json.dumps({"t": kind, **fields}, separators=(",", ":"), default=str)
        data = text.encode(errors="backslashreplace") + b"\n"
        with self._lock:
            try:
                if self._file < 0:
                    self.path.parent.mkdir(parents=True, exist_ok=True)
                    self._file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
                view = memoryview(data)
                while view:
                    view = view[os.write(self._file, view) :]
            except OSError as error:
                self.fail(error)

    def fail(self, error: OSError) -> None:
        """Stop recording, and print the reason once."""
        if self.broken is None:
            self.broken = error.strerror or str(error)
            print(
                f"kprof capture: {self.path.parent.parent}: {self.broken}: the rest is not recorded",
                file=sys.stderr,
            )

    def number(self, kind: str, key: Any, fields: Mapping[str, Any]) -> int:
        """Return the number by which lines refer to an object; the first time, write a line that describes it."""
        known = self._numbers.setdefault(kind, {})
        found = known.get(key)
        if found is None:
            found = len(known)
            known[key] = found
            self.write(kind, {"n": found, **fields})
        return found

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1
            self.broken = self.broken or "closed"
