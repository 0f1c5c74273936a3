"""Find the constants that a server's attention code uses on AMD GPUs, for kernels without a tuned file.

The code is parsed, not executed.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from kprof_servers.served.lookup_process import statements, tree_of

LAUNCHERS = ("_decode_att_m_fwd", "_decode_grouped_att_m_fwd", "_decode_softmax_reducev_fwd")
"""Functions of vLLM and SGLang that launch decoding kernels, including those for MLA. Both have the same origin."""

_KNOBS = ("BLOCK", "num_stages", "num_warps", "waves_per_eu", "matrix_instr_nonkdim", "kpack")


def constants(root: Path, places: Sequence[tuple[str, str]]) -> list[str]:
    """Return one sentence for each launcher that has constants for AMD GPUs.

    Args:
        root: the folder that contains the server's package.
        places: file and function of the launchers; those missing in this version are skipped.
    """
    found = []
    for name, function in places:
        values = dict(_values(root / name, function))
        if values:
            said = ", ".join(f"{knob} {values[knob]}" for knob in _KNOBS if knob in values)
            found.append(f"attention looks up no file: {function} in {name} has {said} for every shape and AMD GPU")
    return found


def _values(file: Path, function: str) -> Iterator[tuple[str, int]]:
    """Yield name and value of each integer that a function assigns under ``if is_hip`` without other conditions."""
    try:
        nodes = [n for n in statements(tree_of(file)) if isinstance(n, ast.FunctionDef) and n.name == function]
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in nodes:
        for inner in ast.walk(node):
            # Skip "not is_hip", which is for other GPUs, and conditions that also test a shape.
            if isinstance(inner, ast.If) and isinstance(inner.test, ast.Name) and "is_hip" in inner.test.id:
                for line in inner.body:
                    yield from _assigned(line)


def _assigned(line: ast.stmt) -> Iterator[tuple[str, int]]:
    if not isinstance(line, ast.Assign) or not isinstance(line.targets[0], ast.Name):
        return
    pairs = (
        zip(line.value.keys, line.value.values, strict=True)
        if isinstance(line.value, ast.Dict)
        else [(ast.Constant(line.targets[0].id), line.value)]
    )
    for key, value in pairs:
        if isinstance(key, ast.Constant) and isinstance(value, ast.Constant) and type(value.value) is int:
            yield str(key.value), value.value
