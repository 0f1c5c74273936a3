"""A program without torch that does everything a recording has to cope with."""

import sys

import triton
import triton.language as tl


class Fake:
    """What Triton needs of a tensor."""

    def __init__(self, dtype="fp32", shape=(4096,)):
        self.dtype, self.shape = dtype, shape

    def ptr_range(self):
        return 1 << 20

    def data_ptr(self):
        return 4096

    def stride(self):
        return (1,)


@(triton.constexpr_function if hasattr(triton, "constexpr_function") else tl.core.constexpr_function)
def dies():
    import os

    os.abort()


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


@triton.jit
def crashes(out):
    value: tl.constexpr = dies()
    tl.store(out, value)


@triton.jit
def refuses(out, BLOCK: tl.constexpr):
    tl.static_assert(BLOCK == 1, "BLOCK has to be 1")
    tl.store(out, BLOCK)


@triton.autotune(
    configs=[triton.Config({"BLOCK": 3}), triton.Config({"BLOCK": 256}, num_warps=2), triton.Config({"BLOCK": 512})],
    key=["n"],
)
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def tuned(out, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.static_assert(BLOCK != 3, "no such block")
    tl.store(out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), EVEN)


def main():
    x, out = Fake(), Fake()
    for _ in range(3):
        add[lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)](x, x, out, 4096, BLOCK=1024)
    add[(2, 3)](x, x, out, 4097, BLOCK=1024, num_warps=8)
    crashes[(1,)](out)
    refuses[(1,)](out, BLOCK=2)
    for _ in range(2):
        tuned[lambda meta: (triton.cdiv(4096, meta["BLOCK"]),)](out, 4096)
    target = triton.runtime.driver.active.get_current_target()
    print(target.backend, target.arch, target.warp_size)


if __name__ == "__main__":
    main()
    if "again" in sys.argv:
        import multiprocessing
        import subprocess

        subprocess.run([sys.executable, __file__], check=True)
        for kind in ("fork", "spawn"):
            process = multiprocessing.get_context(kind).Process(target=main)
            process.start()
            process.join()
    if "wait" in sys.argv:
        import time

        print("waiting", flush=True)
        time.sleep(120)
    sys.exit(3 if "fail" in sys.argv else 0)
