"""Settings of a recording process, passed in one environment variable. Imports only the standard library."""

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
"""Environment variable with the settings as JSON; a Python process with this variable records itself."""

BOOTSTRAP = Path(__file__).parent / "bootstrap"
"""Folder at the front of PYTHONPATH: its ``sitecustomize`` starts the recording."""

TOOLS = BOOTSTRAP / "bin"
"""Folder at the front of PATH: replacements for ROCm's command-line tools, which describe the simulated GPU."""


@dataclass(frozen=True)
class Settings:
    """Settings of a recording.

    Attributes:
        folder: absolute path of the capture directory.
        device: the GPU to simulate.
        jobs: number of parallel compiles over all processes of the capture.
        cache: kprof's cache of compiled kernels; ``None``: no cache.
        timeout: maximum seconds per compile.
        execute: True to execute and record kernels on a machine with a ROCm device, False to only record.
        version: version of kprof.
        arithmetic: True to compute torch's matrix products, convolutions and attention; otherwise they return zeros.
        full_values: True to give large tensors memory and values, too.
        values: maximum number of integers stored per tensor, for tensors that a kernel's control flow depends on.
        root: the work tree that source paths are relative to.
        argv: True to store the processes' command lines, without the secrets in them.
        operators: True to record each call of torch's own operators with its shapes.
        candidate_seconds: seconds at the end of the program for compiling autotuners' other configurations; ``None``:
            no limit.
        again: launches to repeat with other values, and the socket of the requesting process, see
            :attr:`kprof.recording.relaunch.RelaunchServer.order`; empty in a plain recording.
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
        """Return the settings as one line of JSON."""
        return json.dumps(asdict(self))


def from_json(text: str) -> Settings:
    """Return the settings that :meth:`Settings.to_json` encoded.

    Raises:
        ValueError, TypeError, KeyError: if the text is not such JSON.
    """
    data = json.loads(text)
    return Settings(**{**data, "device": SimulatedGpu(**data["device"])})


def environment(settings: Settings, base: Mapping[str, str]) -> dict[str, str]:
    """Return an environment in which Python programs record themselves."""
    path = [str(BOOTSTRAP), *filter(None, base.get("PYTHONPATH", "").split(os.pathsep))]
    unique = list(dict.fromkeys(path))
    changed = {**base, VARIABLE: settings.to_json(), "PYTHONPATH": os.pathsep.join(unique)}
    programs = base.get("PATH", os.defpath)
    # If kernels may execute and ROCm is installed, its own tools describe the real GPU.
    own = settings.execute and shutil.which("rocm-smi", path=programs)
    folders = [] if own else [str(TOOLS)]
    return {**changed, "PATH": os.pathsep.join(dict.fromkeys([*folders, *filter(None, programs.split(os.pathsep))]))}
