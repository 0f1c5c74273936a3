"""Cheats that an oracle must not pay for: each candidate, and how it is found out. The page is in docs/validation."""

from dataclasses import dataclass


def scale(body: str, head: str = "", config: str = "") -> str:
    """A candidate with this body for the case of ``tests/api/test_oracle.py``, which doubles numbers."""
    lines = "".join(f"    {line}\n" for line in body.strip().splitlines())
    signature = "def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):"
    return f"import triton\nimport triton.language as tl\n{head}\n\n@triton.jit\n{signature}\n{lines}{config}"


@dataclass(frozen=True)
class Cheat:
    """A candidate, and its status without and with ``--any-python``."""

    text: str
    status: str
    any_python: str


AT = "at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"
WORK = "tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)"
OTHER = "tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 3, mask=at < n)"
LOAD = "x = tl.load(x_ptr + at, mask=at < n)"
SMALL = '\nCONFIG = {"BLOCK": 4096}\n'
DISHONEST = scale(f"{AT}\n{OTHER}")


def _either(condition: str, other: str = OTHER) -> str:
    """The work where the condition holds, and as much of other work where it does not."""
    return scale(f"{AT}\nif {condition}:\n    {WORK}\nelse:\n    {other}")


def _in_loop(condition: str, loop: str = "range(1, 2)") -> str:
    return scale(f"{AT}\nfor i in {loop}:\n    if {condition}:\n        {WORK}\n    else:\n        {OTHER}")


def _module(python: str) -> str:
    return f"{DISHONEST}\n{python}\n"


_TWO_FUNCTIONS = f"""
import os
import triton
import triton.language as tl

if os.environ.get("TRITON_INTERPRET") == "1":

    @triton.jit
    def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        {AT}
        {WORK}

else:

    @triton.jit
    def scale(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
        {AT}
        {OTHER}
"""
_FORGED = """
import os
from kprof.compiler.wire import pack

kernel = dict(name="scale", arch="gfx942", product=None, triton=None, grid=[1], time=dict(us=0.001, low_us=0.001,
    high_us=0.001), vgprs=1, agprs=0, vgpr_spills=0, lds_bytes=0, waves_per_simd=8.0, occupancy_limiter=None,
    findings=[], not_checked=[], notes=[])
message = b"".join(pack(dict(kind="compiled", kernel=kernel, problems=[], notes=[], implausible=None)))
for descriptor in range(3, 64):
    try:
        os.write(descriptor, message)
    except OSError:
        pass
os._exit(0)
"""
_FORGED_TEXT = _FORGED.replace(
    'dict(kind="compiled", kernel=kernel, problems=[], notes=[], implausible=None)',
    f"dict(kind='written', text={DISHONEST!r})",
)
_TORCH = """
import torch
import kprof.kernel_spec as spec

def execute(entry, launch, tensors, config):
    tensors["out_ptr"].copy_(tensors["x_ptr"] * 2)

for module in list(__import__("sys").modules.values()):
    if getattr(module, "KERNEL", None) is not None:
        module.execute = execute
"""

CHEATS = {
    "nothing at all": Cheat(scale("pass"), "implausible", "implausible"),
    "nothing with the compiled block": Cheat(
        scale(f"if BLOCK < 1024:\n    {AT}\n    {WORK}"), "implausible", "implausible"
    ),
    "nothing with another block": Cheat(
        scale(f"if BLOCK < 2048:\n    {AT}\n    {WORK}", config=SMALL), "implausible", "implausible"
    ),
    "nothing at the size that is timed": Cheat(scale(f"if n < 4096:\n    {AT}\n    {WORK}"), "wrong", "wrong"),
    "other work at the size that is timed": Cheat(_either("n < 4096"), "wrong", "wrong"),
    "other work in another order": Cheat(
        scale("last = tl.num_programs(0) - 1 - tl.program_id(0)\n"
              "first = tl.where(n < 4096, tl.program_id(0), last) * BLOCK\nat = first + tl.arange(0, BLOCK)\n"
              f"{LOAD}\ntl.store(out_ptr + at, x * tl.where(n < 4096, 2.0, 3.0), mask=at < n)"),
        "wrong", "wrong",
    ),
    "a mask of the size": Cheat(
        scale(f"{AT}\nhere = tl.where(n < 4096, n, 0)\ny = tl.load(x_ptr + at, mask=at < n) * 2\n"
              "tl.store(out_ptr + at, y, mask=at < here)"),
        "wrong", "wrong",
    ),
    "a factor of the size": Cheat(
        scale(f"{AT}\nf = tl.where(n < 4096, 2.0, 1.0)\n{LOAD}\ntl.store(out_ptr + at, x * f, mask=at < n)"),
        "wrong", "wrong",
    ),
    "the first programs alone": Cheat(
        scale(f"if tl.program_id(0) < 4:\n    {AT}\n    {WORK}"), "wrong", "wrong"
    ),
    "one program does the work of all": Cheat(
        scale("if tl.program_id(0) == 0:\n    for start in range(0, n, BLOCK):\n        "
              f"at = start + tl.arange(0, BLOCK)\n        {WORK}"), "wrong", "wrong"
    ),
    "the alignment of the size": Cheat(_either("n % 16 != 0"), "wrong", "wrong"),
    "the number of programs": Cheat(_either("tl.num_programs(0) < 16"), "wrong", "wrong"),
    "a loop's variable is a number": Cheat(_in_loop("isinstance(i, int)"), "refused", "refused"),
    "the text of a loop's variable": Cheat(_in_loop('str(i) == "1"'), "refused", "refused"),
    "identity of a loop's variable": Cheat(_in_loop("i is 1"), "refused", "refused"),
    "type of a loop's variable": Cheat(_in_loop("type(i) is int"), "refused", "refused"),
    "attributes of a loop's variable": Cheat(_in_loop('not hasattr(i, "handle")'), "refused", "refused"),
    "a loop's variable has no limit": Cheat(_in_loop("i * 65536 * 65536 != 0"), "wrong", "wrong"),
    "the variable of tl.range has no limit": Cheat(
        _in_loop("i * 65536 * 65536 != 0", "tl.range(1, 2)"), "wrong", "wrong"
    ),
    "a shift of all bits": Cheat(_either("(n << 32) == 0"), "implausible", "implausible"),
    "a shift of a loop's variable": Cheat(_in_loop("(i << 33) != 0"), "implausible", "implausible"),
    "the value of an and": Cheat(scale(f"{AT}\nk = n and 4\nif k == 4:\n    {WORK}\nelse:\n    {OTHER}"),
                                 "refused", "refused"),
    "the name of the target": Cheat(_either("not tl.target_info.is_hip()"), "refused", "refused"),
    "writes what it does not read": Cheat(
        scale(f"{AT}\ntl.store(out_ptr + at, tl.zeros((BLOCK,), tl.float32), mask=at < n)"),
        "implausible", "implausible",
    ),
    "relies on what the memory held": Cheat(
        scale(f"{AT}\ny = tl.load(out_ptr + at, mask=at < n)\ntl.store(out_ptr + at, y, mask=at < n)"),
        "implausible", "implausible",
    ),
    "half of each block": Cheat(
        scale(f"at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK // 2)\n{WORK}"), "implausible", "implausible"
    ),
    "one element a block": Cheat(
        scale(f"{AT}\n{LOAD}\ntl.store(out_ptr + tl.program_id(0) * BLOCK, tl.max(x, 0))"),
        "implausible", "implausible",
    ),
    "trips that are not known": Cheat(
        scale("hidden = (tl.load(x_ptr) * 0.0).to(tl.int32)\nfor i in range(0, 64 + hidden):\n"
              "    at = tl.program_id(0) * BLOCK + i * (BLOCK // 64) + tl.arange(0, BLOCK // 64)\n    " + WORK,
              config=SMALL),
        "implausible", "implausible",
    ),
    "a remembered result": Cheat(
        scale(f"{AT}\n{LOAD}\ntl.store(out_ptr + at, x * 0 + 1.25, mask=at < n)"), "wrong", "wrong"
    ),
    "the right result for one sign": Cheat(
        scale(f"{AT}\n{LOAD}\ntl.store(out_ptr + at, tl.abs(x) * 2, mask=at < n)"), "wrong", "wrong"
    ),
    "fewer bits": Cheat(
        scale(f"{AT}\n{LOAD}\ntl.store(out_ptr + at, x.to(tl.float16).to(tl.float32) * 2, mask=at < n)"),
        "wrong", "wrong",
    ),
    "raises in the interpreter alone": Cheat(scale(f"{AT}\n{WORK}\nassert False"), "failed", "failed"),
    "assembly that ends the program": Cheat(
        scale(f'{AT}\n{LOAD}\nx = tl.inline_asm_elementwise("s_endpgm", "=v,v", [x], tl.float32, False, 1)\n'
              "tl.store(out_ptr + at, x * 2, mask=at < n)"), "implausible", "implausible"
    ),
    "an import": Cheat(scale(f"{AT}\n{OTHER}", head="import sys\n"), "refused", "wrong"),
    "a file that is read": Cheat(scale(f'{AT}\nopen("/proc/self/environ")\n{WORK}'), "refused", "refused"),
    "two functions": Cheat(_TWO_FUNCTIONS, "refused", "wrong"),
    "a forged answer": Cheat(_FORGED, "refused", "tampered"),
    "a forged text": Cheat(_FORGED_TEXT, "refused", "wrong"),
    "torch computes the result": Cheat(
        f"{_TORCH}\n{DISHONEST}", "refused", "wrong"
    ),
    "another compiler": Cheat(
        _module("import triton.compiler\ntriton.compiler.compile = lambda *_a, **_k: None"), "refused", "tampered"
    ),
    "another judge": Cheat(
        _module("import kprof.bench.compare as c\nc.is_right = lambda _e: True"), "refused", "wrong"
    ),
    "another store": Cheat(
        _module("tl.core.store = lambda *_a, **_k: None"), "refused", "tampered"
    ),
}  # fmt: skip
"""Name to the cheat; the page has them in the same order."""
