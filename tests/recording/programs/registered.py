"""Small libraries that register operators for the GPU in each of torch's ways, with counts of their own."""

import json
import threading
from collections import Counter

import torch
import triton
import triton.language as tl

called, ran, launched = Counter(), Counter(), Counter()

plain_run = triton.JITFunction.run


def counted_run(self, *args, grid, warmup, **options):
    launched["all"] += not warmup
    return plain_run(self, *args, grid=grid, warmup=warmup, **options)


triton.JITFunction.run = counted_run


@triton.jit
def double(x, out, n, TAG: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def go(x, name):
    ran[name] += 1
    out = torch.empty_like(x)
    assert out.is_cuda, name
    double[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), len(name) % 2, BLOCK=1024)
    return out


def call(name, operator, *args, **kwargs):
    called[name] += 1
    return operator(*args, **kwargs)


def gpu(**options):
    return torch.ones(2048, device="cuda", **options)


mine = torch.library.Library("mine", "FRAGMENT")
aten = torch.library.Library("aten", "IMPL")


class Apply(torch.autograd.Function):
    """Forward and backward call an operator each."""

    @staticmethod
    def forward(context, x):
        return call("mine::forward", torch.ops.mine.forward, x)

    @staticmethod
    def backward(context, gradient):
        return call("mine::backward", torch.ops.mine.backward, gradient)


def library_implementations():
    for name in ("plain", "forward", "backward", "differentiable", "cast"):
        mine.define(f"{name}(Tensor x) -> Tensor")
        mine._register_fake(name, torch.empty_like)
    for name in ("plain", "forward", "backward", "cast"):
        mine.impl(name, lambda x, name=name: go(x, f"mine::{name}"), dispatch_key="CUDA")
    mine.impl("differentiable", lambda x: go(x, "mine::differentiable"), "CUDA")
    mine.impl("differentiable", lambda x: Apply.apply(x), "AutogradCUDA")  # noqa: PLW0108  # as libraries write it
    assert call("mine::plain", torch.ops.mine.plain, gpu()).is_cuda
    x = gpu(requires_grad=True)
    torch.ops.mine.differentiable(x).sum().backward()
    assert x.grad.is_cuda
    with torch.inference_mode():
        call("mine::differentiable", torch.ops.mine.differentiable, gpu())

    def in_half(x):
        keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return torch.ops.mine.cast(x.half())

    mine.impl("cast", in_half, "AutocastCUDA")
    with torch.autocast("cuda", dtype=torch.float16):
        assert call("mine::cast", torch.ops.mine.cast, gpu()).dtype is torch.float16
    assert call("mine::cast", torch.ops.mine.cast, gpu()).dtype is torch.float32


def custom_operators():
    @torch.library.custom_op("mine::custom", mutates_args=(), device_types="cuda")
    def custom(x: torch.Tensor) -> torch.Tensor:
        return go(x, "mine::custom")

    custom.register_fake(torch.empty_like)
    custom.register_autograd(lambda _context, gradient: gradient * 2)

    @torch.library.custom_op("mine::made", mutates_args=(), device_types="cuda")
    def made(size: int, device: torch.device) -> torch.Tensor:
        return go(torch.ones(size, device=device), "mine::made")

    @torch.library.custom_op("mine::filled", mutates_args={"out"}, device_types="cuda")
    def filled(x: torch.Tensor, out: torch.Tensor) -> None:
        out.copy_(go(x, "mine::filled"))

    x = gpu(requires_grad=True)
    call("mine::custom", custom, x).sum().backward()
    assert x.grad.is_cuda
    thread = threading.Thread(target=lambda: call("mine::custom", custom, gpu()))
    thread.start()
    thread.join()
    assert call("mine::made", made, 64, torch.device("cuda")).is_cuda
    call("mine::filled", filled, gpu(), gpu())


def overrides_of_torch():
    aten.impl("exp", lambda x: go(x, "aten::exp"), "CUDA")
    aten.impl("layer_norm", lambda x, *_args, **_kwargs: go(x, "aten::layer_norm"), "CUDA")
    aten.impl("relu_", lambda x: x.copy_(go(x, "aten::relu_")), "CUDA")
    assert call("aten::exp", torch.exp, gpu()).is_cuda
    call("aten::relu_", gpu().relu_)
    call("aten::layer_norm", torch.nn.functional.layer_norm, gpu(), (2048,))
    # On the CPU everything is as ever.
    assert torch.exp(torch.zeros(2)).tolist() == [1.0, 1.0]
    x = torch.randn(8, requires_grad=True)
    (torch.nn.functional.layer_norm(x, (8,)) * torch.randn(8)).sum().backward()
    assert x.grad.abs().sum() > 0

    other = torch.library.Library("aten", "IMPL")
    other.impl("tan", lambda x: go(x, "aten::tan"), "CUDA")
    call("aten::tan", torch.tan, gpu())
    other._destroy()
    assert torch.tan(torch.zeros(2, device="cuda")).tolist() == [0.0, 0.0]


def on_large_tensors():
    """For any device, and with a shape function that could answer: its kernel still runs."""

    @torch.library.custom_op("mine::wide", mutates_args=())
    def wide(x: torch.Tensor) -> torch.Tensor:
        return go(x, "mine::wide")

    wide.register_fake(torch.empty_like)
    call("mine::wide", wide, torch.empty(1 << 20, device="cuda"))
    mine.define("alone(Tensor x) -> Tensor")
    mine._register_fake("alone", torch.empty_like)
    call("mine::alone", torch.ops.mine.alone, torch.empty(1 << 20, device="cuda"))


def with_nothing_to_launch():
    mine.define("idle(Tensor x) -> Tensor")
    mine.impl("idle", lambda x: x.view(2, 1024).neg(), "CUDA")
    for _ in range(2):
        call("mine::idle", torch.ops.mine.idle, gpu())


def asking_amdsmi():
    import amdsmi

    amdsmi.amdsmi_init()
    (handle,) = amdsmi.amdsmi_get_processor_handles()
    assert amdsmi.amdsmi_get_gpu_asic_info(handle)["market_name"] == torch.cuda.get_device_name()


def without_a_kernel_for_the_gpu():
    mine.define("faked(Tensor x) -> Tensor")
    mine._register_fake("faked", torch.empty_like)
    mine.define("on_cpu(Tensor x) -> Tensor")
    mine.impl("on_cpu", lambda x: x * 2, "CPU")
    mine.define("anywhere(Tensor x) -> Tensor")
    mine.impl("anywhere", lambda x: x * 2, "CompositeExplicitAutograd")
    for _ in range(3):
        assert call("mine::faked", torch.ops.mine.faked, gpu()).is_cuda
    call("mine::on_cpu", torch.ops.mine.on_cpu, gpu())
    torch.ops.mine.anywhere(gpu())
    torch.ops.mine.on_cpu(torch.ones(2))
    aten.impl("cosh", lambda x: torch.cosh(x), "CUDA")  # noqa: PLW0108  # it has to look itself up
    torch.cosh(gpu())


library_implementations()
custom_operators()
overrides_of_torch()
on_large_tensors()
with_nothing_to_launch()
asking_amdsmi()
without_a_kernel_for_the_gpu()
print("counted " + json.dumps({"called": called, "ran": ran, "launched": launched["all"]}))
