"""Inductor's own kernels for the rows of its tables, written from its templates by the torch of a package folder."""

import ast
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from validation.benchmarks.model.compiling import Point, kernel_of
from validation.benchmarks.model.real.packages import Package

if TYPE_CHECKING:
    from kprof.kernel_spec import Config, Kernel, Launch, Shape

STAND_INS = ("inductor_mm", "inductor_conv")
_PROCESS = Path(__file__).with_name("inductor_process.py")
_SECONDS = 600
_KNOWN = {"tl", "triton"}
_OPTIONS = ("matrix_instr_nonkdim", "waves_per_eu", "kpack")
"""Compiler options that Inductor also writes into the kernel as constants."""


def asked(point: Point) -> dict[str, Any]:
    """Return the request to Inductor for a row, with the stand-in's sizes and strides."""
    stand_in = kernel_of(point.kernel)
    config = stand_in.configure("", point.config)
    launch = stand_in.launch(point.shape, config)
    constants = {name: config[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K")}
    constants |= {name: config[name] for name in _OPTIONS if name in config}
    if point.kernel == "inductor_conv":
        return _convolution(launch.args, constants)
    return _product(launch.args, {**constants, "GROUP_M": config["GROUP_M"]}, batch=point.shape["batch"])


def _product(args: Mapping[str, Any], constants: dict[str, Any], *, batch: int) -> dict[str, Any]:
    m, n, k = args["M"], args["N"], args["K"]
    constants |= {"EVEN_K": args["EVEN_K"], "ALLOW_TF32": False, "USE_FAST_ACCUM": False, "ACC_TYPE": "tl.float32"}
    lead, out = ([], [m, n]) if batch == 1 else ([batch], [batch, m, n])
    inputs = [
        ["A", [*lead, m, k], [*([args["a_batch"]] if lead else []), args["a_row"], 1]],
        ["B", [*lead, k, n], [*([args["b_batch"]] if lead else []), args["b_depth"], args["b_col"]]],
    ]
    if args["bias"] is not None:
        inputs.insert(0, ["bias", out, [*([0] if lead else []), 0, 1]])
    template = "bmm" if lead else "mm"
    return {"template": template, "inputs": inputs, "out": out, "addends": len(inputs) - 2, "constants": constants}


def _convolution(args: Mapping[str, Any], constants: dict[str, Any]) -> dict[str, Any]:
    window = args["KERNEL"]
    for name in ("KERNEL", "STRIDE", "PADDING"):
        constants |= {f"{name}_{side}": args[name] for side in "HW"}
    constants |= {"GROUPS": 1, "UNROLL": window == 1, "ALLOW_TF32": False}
    image = [args["BATCH"], args["IN_C"], args["IN_H"], args["IN_W"]]
    weights = [args["OUT_C"], args["IN_C"], window, window]
    inputs = [[name, sizes, _packed(sizes)] for name, sizes in (("X", image), ("W", weights))]
    out = [args["BATCH"], args["OUT_C"], args["OUT_H"], args["OUT_W"]]
    return {"template": "conv", "inputs": inputs, "out": out, "addends": 0, "constants": constants}


def _packed(sizes: Sequence[int]) -> list[int]:
    strides = [1]
    for size in reversed(sizes[1:]):
        strides.insert(0, strides[0] * size)
    return strides


def written(package: Package, wanted: Sequence[Mapping[str, Any]]) -> list[str | KprofError]:
    """Return the files that a torch writes, or the reasons why it writes none, in the requested order.

    Raises:
        KprofError: this torch cannot write any kernel.
    """
    own = package.root.parents[2] / "bin" / "python" if len(package.root.parents) > 2 else None
    python = str(own) if own is not None and own.is_file() else sys.executable
    given = json.dumps({"root": None if python != sys.executable else str(package.root), "asked": list(wanted)})
    try:
        done = subprocess.run(
            [python, str(_PROCESS)], input=given, capture_output=True, text=True, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise KprofError(f"{package.words} cannot be asked for kernels: {error}") from None
    try:
        answers = json.loads(done.stdout)
    except ValueError:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise KprofError(f"{package.words} cannot be asked for kernels: {last}") from None
    return [one.get("text") or KprofError(f"{package.words} writes no such kernel: {one['error']}") for one in answers]


def plain(text: str) -> tuple[str, str]:
    """Return Inductor's file without its autotuner, as a file that only needs Triton, and the kernel's name.

    Raises:
        KprofError: the file contains no kernel, or uses names that only torch has.
    """
    nodes = [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    if len(nodes) != 1:
        raise KprofError("Inductor's file has no kernel, or more than one")
    node = nodes[0]
    node.decorator_list = []
    own = {a.arg for a in node.args.args} | {"min", "max", "range"}
    own |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    if foreign := read - own - _KNOWN:
        raise KprofError(f"Inductor's kernel needs {', '.join(sorted(foreign))} of torch")
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    return "\n".join(["import triton", "import triton.language as tl", "", "@triton.jit", *lines]) + "\n", node.name


def kernel(point: Point, text: str) -> "Kernel":
    """Return a kernel for one row, with its own name.

    Raises:
        KprofError: as :func:`plain`, or the kernel has unknown arguments.
    """
    from kprof.importing.functions import find_entry, unwrap
    from kprof.importing.loading import load_module
    from kprof.kernel_spec import Launch
    from kprof_servers.served.kernel_source import written as stored

    alone, name = plain(text)
    path = stored(alone, name)
    entry = find_entry(load_module(path), path, name)
    found = unwrap(entry, path=path, name=name)
    assert found is not None
    names = {"arg_A": "A", "arg_B": "B", "arg_X": "X", "arg_W": "W", "in_ptr0": "bias", "out_ptr0": "out"}
    names |= {"out_ptr1": "out", "arg_bias": "bias"}
    if unknown := [one for one in found.arguments if one not in names]:
        raise KprofError(f"Inductor's kernel has a parameter {unknown[0]}, which is not known")
    stand_in = kernel_of(point.kernel)

    def launch(shape: "Shape", config: "Config") -> "Launch":
        made = stand_in.launch(shape, config)
        return Launch({one: made.args[names[one]] for one in found.arguments}, made.grid)

    digest = sha256(alone.encode()).hexdigest()[:16]
    return replace(stand_in, name=f"{name} {digest}", entry=entry, launch=launch, parts={})
