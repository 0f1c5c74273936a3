"""A program that insists on a GPU. Every assertion in it holds on a real one too."""

import threading

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


class Double(torch.autograd.Function):
    """Forward and backward are the same kernel."""

    @staticmethod
    def run(x):
        assert x.is_cuda
        assert x.device.type == "cuda"
        out = torch.empty_like(x)
        with torch.cuda.device(x.device):
            double[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out

    @staticmethod
    def forward(context, x):
        return Double.run(x)

    @staticmethod
    def backward(context, gradient):
        return Double.run(gradient.contiguous())


def device_answers():
    assert torch.cuda.is_available()
    assert torch.version.hip is not None
    assert torch.version.cuda is None
    assert torch.cuda.device_count() >= 1
    assert torch.cuda.current_device() == 0
    properties = torch.cuda.get_device_properties("cuda")
    assert properties.gcnArchName.split(":")[0] == "gfx942"
    assert properties.multi_processor_count > 100
    assert properties.warp_size == 64
    assert torch.cuda.get_device_capability() == (9, 4)
    assert torch.cuda.mem_get_info()[1] > 1 << 30
    assert torch.accelerator.current_accelerator().type == "cuda"
    target = triton.runtime.driver.active.get_current_target()
    assert (target.backend, target.arch, target.warp_size) == ("hip", "gfx942", 64)
    assert triton.runtime.driver.active.utils.get_device_properties(0)["max_shared_mem"] == 65536
    assert triton.runtime.driver.active.get_active_torch_device() == torch.device("cuda", 0)


def tensors():
    made = [
        torch.randn(4, device="cuda"),
        torch.tensor([1.0, 2.0], device="cuda:0"),
        torch.as_tensor([1, 2], device="cuda"),
        torch.ones(3).cuda(),
        torch.ones(3).to("cuda"),
        torch.ones(3).to(device="cuda", dtype=torch.bfloat16),
        torch.arange(3, device=torch.device("cuda")),
        torch.zeros(3, device="cuda").new_zeros(2),
        torch.zeros_like(torch.ones(2, device="cuda")),
        torch.nn.Linear(2, 2).to("cuda").weight,
        torch.nn.Linear(2, 2, device="cuda").bias,
    ]
    with torch.device("cuda"):
        made += [torch.ones(2), torch.tensor([3])]
    made += [made[0][1:], made[0] + 1, made[0].half(), made[0].clone(), made[0].t()]
    assert all(tensor.is_cuda and tensor.device == torch.device("cuda", 0) for tensor in made)
    kept = made[0]
    assert kept.cuda() is kept
    assert kept.to("cuda") is kept
    # As modules that are there already ask, and all else that may follow a device.
    for rest in ((None, False), (None, False, False), (torch.float32,), (torch.float32, True)):
        assert kept.to("cuda", *rest) is kept
    assert kept.to(kept, True) is kept
    assert kept.to("cuda", non_blocking=True) is kept
    layer = torch.nn.Linear(2, 2, device="cuda")
    assert layer.to("cuda").to("cuda", torch.float16).weight.dtype == torch.float16
    for copy in (kept.to("cuda", None, False, True), kept.to("cuda", copy=True), kept.to(kept, False, True)):
        assert copy.is_cuda
        assert copy.data_ptr() != kept.data_ptr()
        assert torch.equal(copy, kept)
    half = torch.ones(2, 3, 4, 4, dtype=torch.float64).to("cuda", torch.half, memory_format=torch.channels_last)
    assert (half.is_cuda, half.dtype, half.stride()) == (True, torch.half, (48, 1, 12, 3))
    assert torch.ones(2).to(kept.half()).dtype == torch.half
    assert kept.to("cpu", torch.int32, True).dtype == torch.int32
    plain = [torch.ones(2), kept.cpu(), kept.to("cpu"), torch.tensor([1])]
    assert not any(tensor.is_cuda for tensor in plain)
    assert torch.equal(kept.cpu().cuda(), kept)
    plain[0].copy_(torch.full((2,), 7.0, device="cuda"))
    assert plain[0].tolist() == [7.0, 7.0]
    assert not plain[0].is_cuda
    generator = torch.Generator(device="cuda").manual_seed(1)
    assert generator.device.type == "cuda"
    assert torch.randn(2, device="cuda", generator=generator).is_cuda


def pinned():
    made = [torch.empty(4, pin_memory=True), torch.zeros(4, pin_memory=True), torch.tensor([1, 2], pin_memory=True)]
    made += [torch.ones(4).pin_memory(), torch.empty_like(torch.ones(4), pin_memory=True)]
    assert all(tensor.device.type == "cpu" for tensor in made)
    assert made[2].to("cuda", non_blocking=True).tolist() == [1, 2]


def random_numbers():
    """A state is a seed and an offset; going back to one gives the same numbers again."""
    torch.cuda.init()
    generator = torch.cuda.default_generators[torch.cuda.current_device()]
    torch.cuda.manual_seed(7)
    assert generator.initial_seed() == torch.cuda.initial_seed() == 7
    before = torch.cuda.get_rng_state()
    assert (before.dtype, before.shape, before.is_cuda) == (torch.uint8, (16,), False)
    assert before.view(torch.int64).tolist() == [7, 0]
    first = torch.rand(5, device="cuda")
    after = generator.get_state()
    assert after.view(torch.int64)[0] == 7
    assert after.view(torch.int64)[1] == generator.get_offset() > 0
    torch.cuda.set_rng_state(before)
    assert torch.equal(torch.rand(5, device="cuda"), first)
    assert torch.equal(generator.get_state(), after)
    # As kernels do that draw for themselves: numbers are taken from the state by moving its offset.
    seed, offset = after.view(torch.int64).tolist()
    after.view(torch.int64)[1] += 8
    generator.set_state(after)
    assert (generator.initial_seed(), generator.get_offset()) == (seed, offset + 8)
    moved = torch.rand(5, device="cuda")
    generator.set_offset(offset + 8)
    assert torch.equal(torch.rand(5, device="cuda"), moved)
    assert not torch.equal(moved, first)
    # A seed set again begins again, and what was kept of it before stays what it was.
    kept, wanted = generator.get_state(), torch.rand(5, device="cuda")
    torch.cuda.manual_seed(7)
    torch.rand(3, device="cuda")
    assert generator.get_offset() > 0
    torch.rand(9, device="cuda")
    generator.get_state()
    generator.set_state(kept)
    assert torch.equal(torch.rand(5, device="cuda"), wanted)
    own = torch.Generator(device="cuda").manual_seed(3)
    assert own.get_state().view(torch.int64).tolist() == [3, 0]
    torch.randn(2, device="cuda", generator=own)
    assert own.get_offset() > 0
    for wrong, error in ((torch.zeros(15, dtype=torch.uint8), RuntimeError), (torch.zeros(16), TypeError)):
        try:
            generator.set_state(wrong)
        except error:
            continue
        raise AssertionError(wrong)
    assert torch.Generator().get_state().numel() > 16
    torch.manual_seed(11)
    assert torch.cuda.get_rng_state().view(torch.int64).tolist() == [11, 0]


def streams():
    side = torch.cuda.Stream()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    with torch.cuda.stream(side):
        assert torch.cuda.current_stream() == side
        Double.run(torch.ones(256, device="cuda"))
    end.record()
    torch.cuda.synchronize()
    side.wait_stream(torch.cuda.current_stream())


def training():
    layer = torch.nn.Linear(64, 64).cuda()
    optimizer = torch.optim.AdamW(layer.parameters())
    with torch.autocast("cuda", dtype=torch.bfloat16):
        hidden = layer(torch.randn(8, 64, device="cuda"))
    assert hidden.dtype is torch.bfloat16
    loss = Double.apply(hidden.float()).sum()
    loss.backward()
    assert layer.weight.grad.is_cuda
    optimizer.step()
    print("loss", loss.item())


def in_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.ones(2, device="cuda").is_cuda))
    thread.start()
    thread.join()
    assert found == [True]


if __name__ == "__main__":
    for step in (device_answers, tensors, pinned, random_numbers, streams, training, in_a_thread):
        step()
    print("all fine")
