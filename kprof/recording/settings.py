"""Settings of a recording process, passed in one environment variable. Standard library only."""

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from kprof.captures import layout
from kprof.simulation.gpu import SimulatedGpu

VARIABLE = "KPROF_CAPTURE"
"""Holds the settings as JSON; a process that finds it records itself."""

BOOTSTRAP = Path(__file__).parent / "bootstrap"
"""The folder that goes to the front of PYTHONPATH: its ``sitecustomize`` starts the recording."""

TOOLS = BOOTSTRAP / "bin"
"""The folder that goes to the front of PATH: ROCm's tools, which tell of the simulated GPU."""


@dataclass(frozen=True)
class Settings:
    """How to record.

    Attributes:
        folder: the capture directory, absolute.
        device: the GPU to stand in for.
        jobs: compiles at a time, over all processes of the capture.
        cache: kprof's cache of compiled kernels, ``None`` to do without.
        timeout: seconds that one compile may take.
        execute: on a machine with a ROCm device, let kernels run and record them (``True``), or only record.
        version: kprof's.
        arithmetic: whether torch's matrix products, convolutions and attention are computed; else they give zeros.
        full_values: whether large tensors have memory and values, too.
        values: integers of a tensor that are kept at most, where the course of a kernel depends on them.
        root: the work tree that sources are named from.
        argv: keep the processes' command lines, without the secrets in them.
        operators: whether each call of torch's own operators is noted, with its shapes.
        candidate_seconds: after this many seconds at the end of the program no further configuration of an autotuner is
            compiled; ``None``: all of them are.
        again: which launch is to be made again with other values, and who asks: :mod:`kprof.recording.relaunch`.
    """

    folder: str
    device: SimulatedGpu
    jobs: int = 1
    cache: str | None = None
    timeout: float = 600.0
    execute: bool = False
    version: str = ""
    arithmetic: bool = True
    full_values: bool = False
    values: int = layout.VALUES
    root: str = ""
    argv: bool = True
    operators: bool = False
    candidate_seconds: float | None = None
    again: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self))


def from_json(text: str) -> Settings:
    """The settings that :meth:`Settings.to_json` wrote.

    Raises:
        ValueError, TypeError, KeyError: the text is something else.
    """
    data = json.loads(text)
    return Settings(**{**data, "device": SimulatedGpu(**data["device"])})


def environment(settings: Settings, base: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Python programs record themselves."""
    path = [str(BOOTSTRAP), *filter(None, base.get("PYTHONPATH", "").split(os.pathsep))]
    unique = list(dict.fromkeys(path))
    changed = {**base, VARIABLE: settings.to_json(), "PYTHONPATH": os.pathsep.join(unique)}
    programs = base.get("PATH", os.defpath)
    # Where kernels may run and ROCm is installed its tools tell of the GPU that there is.
    own = settings.execute and shutil.which("rocm-smi", path=programs)
    folders = [] if own else [str(TOOLS)]
    return {**changed, "PATH": os.pathsep.join(dict.fromkeys([*folders, *filter(None, programs.split(os.pathsep))]))}
