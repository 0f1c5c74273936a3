"""Check that ``kprof oracle`` accepts correct variants of bundled kernels.

    python validation/honest_variants.py [--count 50] [--any-python] [KERNEL...]

A variant is a candidate with the kernel's own functions and one change. The change is another configuration, from
the kernel's list or from the space that ``kprof tune`` searches, or an edit that does not affect the result: renamed
variables, exchanged operands of a product, ``tl.range`` instead of ``range``, an unused helper function. The exit
status is 1 if a variant is not accepted.
"""

import argparse
import ast
import itertools
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "analyzers"), str(ROOT / "servers")]

from kprof.api.live.answers import OracleAnswer  # noqa: E402 - the checkout's own

KERNELS = (
    "swiglu_fp8", "memory_copy@mib64", "layernorm_backward", "softmax", "layernorm", "rmsnorm", "rmsnorm_residual_fp8",
    "rmsnorm_backward", "gemm_skinny_fp8", "flash_decoding", "gemm_multiply_reduce",
)  # fmt: skip
"""Kernels for which the interpreter runs one program of the timed size within seconds."""


def own_text(name: str) -> tuple[str, list[dict[str, object]], dict[str, object]]:
    """Return a kernel's functions as a candidate, configurations to try, and its own configuration."""
    from kprof.hardware.default import DEFAULT_GPU
    from kprof.hardware.machine import load_gpu
    from kprof.importing.without_gpu import simulating
    from kprof.importing.wrappers import kernel_function
    from kprof.importing.written_functions import text_of
    from kprof.targets import library

    arch = load_gpu(DEFAULT_GPU)[0].name
    name, _, case = name.partition("@")
    with simulating(arch):
        kernel = library.load(name)
    function = kernel_function(kernel.entry).fn
    text = text_of(sys.modules[function.__module__], function.__name__)
    problem = kernel.problem(arch, case or None)
    own = kernel.configure(arch, {}, problem)
    listed = [dict(config) for config in kernel.configs]
    # Neighbours of the current configuration: one knob of the search space changed at a time.
    for knob, values in kernel.space.items():
        listed += [{knob: value} for value in values if value != own.get(knob)]
    legal = kernel.legal or (lambda *_: None)
    found = [config for config in listed if legal(problem, {**own, **config}, arch) is None]
    random.Random(name).shuffle(found)
    return text, found, own


def renamed(text: str) -> str:
    """Give every variable of the functions another name."""
    tree = ast.parse(text)
    for function in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
        arguments = {argument.arg for argument in ast.walk(function.args) if isinstance(argument, ast.arg)}
        names = {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in names - arguments:
                node.id = f"its_{node.id}"
    return ast.unparse(tree)


def exchanged(text: str) -> str:
    """Exchange the operands of sums and products, which does not affect rounding."""

    class Exchange(ast.NodeTransformer):
        def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
            self.generic_visit(node)
            # In a sum with a pointer, the pointer stays the first operand.
            if isinstance(node.op, ast.Mult):
                node.left, node.right = node.right, node.left
            return node

    return ast.unparse(Exchange().visit(ast.parse(text)))


def counted(text: str) -> str:
    """Write loops with ``tl.range``."""
    return text.replace(" in range(", " in _language.range(")


def commented(text: str) -> str:
    """Add comments and an unused helper function."""
    helper = "\n\n@triton.jit\ndef unused_helper(x):\n    # Twice the value.\n    return x + x\n"
    return f"{text}{helper}"


EDITS: dict[str, Callable[[str], str]] = {
    "names": renamed, "products": exchanged, "tl.range": counted, "helper": commented
}  # fmt: skip


def variants(name: str, count: int) -> Iterator[tuple[str, str]]:
    """Yield descriptions and texts of a kernel's variants: half of them configurations, the others edits."""
    text, configs, _ = own_text(name)
    yield "its own", text
    edits = itertools.cycle(EDITS.items())
    for number, config in zip(range(count - 1), itertools.chain(configs, itertools.repeat({})), strict=False):
        words = ", ".join(f"{key}={value}" for key, value in config.items())
        body, label = text, words or "its own"
        if number % 2 or not config:
            edit, change = next(edits)
            body, label = change(text), f"{edit}; {label}"
        yield label, f"{body}\nCONFIG = {config!r}\n"


def judge(kernels: list[str], count: int, *, any_python: bool) -> list[tuple[str, str, OracleAnswer]]:
    """Return kernel, description and answer of each variant."""
    import kprof

    found = []
    shares = [count // len(kernels) + (number < count % len(kernels)) for number in range(len(kernels))]
    for name, share in zip(kernels, shares, strict=True):
        made = list(variants(name, share))
        answers = kprof.oracle([text for _, text in made], name, any_python=any_python, jobs=1)
        for (label, _), answer in zip(made, answers, strict=True):
            found.append((name, label, answer))
            checks = sum(check.correct for check in answer.checks)
            print(f"| {name} | {label} | {answer.status} | {checks} | {'; '.join(answer.reasons)[:200]} |", flush=True)
    return found


def main() -> None:
    """Judge the variants and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", default=list(KERNELS))
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--any-python", action="store_true")
    given = parser.parse_args()
    print("| kernel | variant | status | checks | reasons |\n|---|---|---|---|---|", flush=True)
    found = judge(given.kernels, given.count, any_python=given.any_python)
    accepted = sum(answer.ok for _, _, answer in found)
    print(f"\n{accepted} of {len(found)} honest variants accepted")
    raise SystemExit(0 if accepted == len(found) else 1)


if __name__ == "__main__":
    main()
