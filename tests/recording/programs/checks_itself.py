"""Compares what a kernel would have written with torch, and counts into bins, as tests and tutorials do."""

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out):
    at = tl.arange(0, 64)
    tl.store(out + at, tl.load(x + at) * 2)


x = torch.ones(64, device="cuda")
out = torch.empty_like(x)
double[(1,)](x, out)
assert torch.allclose(out, x * 2)
assert out.isclose(x * 2).shape == (64,)
assert torch.equal(out, x * 2)
torch.testing.assert_close(out, x * 2)
large = torch.empty(1 << 24, device="cuda")
double[(1,)](x, large)
torch.testing.assert_close(large, torch.ones(1 << 24, device="cuda"))
assert large.isclose(torch.ones_like(large)).all()
assert not torch.allclose(x, x * 2), "what is known is compared"
bins = torch.histc(torch.tensor([0, 1, 1, 3], device="cuda", dtype=torch.int32), bins=4, min=0, max=3)
assert bins.tolist() == [1, 2, 0, 1], bins
hipblas = getattr(triton._C.libtriton.amd, "hipblas", None)
if hipblas is not None:
    a, b = torch.arange(12.0, device="cuda").reshape(3, 4), torch.ones(2, 4, device="cuda")
    c, d = torch.zeros(3, 2, device="cuda"), torch.zeros(3, 2, device="cuda")
    blas = hipblas.HipblasLt(torch.empty(1 << 20, device="cuda", dtype=torch.uint8))
    blas.matmul(a, b, c)
    assert c.tolist() == [[6, 6], [22, 22], [38, 38]]
    blas.gemm(a, b, c, d, 2.0, 1.0)
    assert d.tolist() == [[18, 18], [66, 66], [114, 114]]
if hasattr(getattr(triton, "knobs", None), "proton"):
    import triton.profiler as proton

    proton.start("nothing is measured")
    proton.deactivate()
    proton.activate(0)
    with proton.scope("a scope"):
        double[(1,)](x, out)
    proton.finalize()
