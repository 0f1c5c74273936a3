"""ROCm/aiter#4718: paged attention of one token, by sums instead of products, is fastest with one warp (gfx950)."""

from typing import Any

import checkouts

checkouts.use_aiter()
import aiter.ops.triton.attention.chunked_pa_prefill as module  # noqa: E402
import torch  # noqa: E402
from checkouts import half, replaced  # noqa: E402

ARCH, KERNEL, CAUSES = "MI350X", "_kernel_paged_attention_2d", ("KP408",)
KNOBS = ("num_warps",)
# Times relative to the first configuration: medians over the 34 shapes of the pull request.
CONFIGS = {
    "num_warps=4 num_stages=2 waves_per_eu=0": 1.0,
    "num_warps=1 num_stages=1 waves_per_eu=2": 0.868,
    "num_warps=1 num_stages=2 waves_per_eu=4": 0.950,
    "num_warps=1 num_stages=4 waves_per_eu=1": 1.192,
}


class Launched:
    """Wrapper that launches the kernel with other settings than its caller passes."""

    def __init__(self, kernel: Any, settings: dict[str, int]) -> None:
        self.kernel, self.settings = kernel, settings

    def __getitem__(self, grid: Any) -> Any:
        return lambda *args, **options: self.kernel[grid](*args, **{**options, **self.settings})


def launch(name: str) -> None:
    """Launch the kernel with one of the configurations: 128 sequences of 4,096, 32 heads over 8, pages of 32."""
    sequences, length, page = 128, 4096, 32
    settings = {knob: int(value) for knob, _, value in (part.partition("=") for part in name.split())}
    q, new = half(sequences, 32, 128), half(sequences, 8, 128)
    keys = half(sequences * length // page, 8, 16, page, 8)
    values = half(sequences * length // page, 8, 128, page)
    table = torch.arange(sequences * length // page, dtype=torch.int32, device="cuda").reshape(sequences, -1)
    starts = torch.arange(sequences + 1, dtype=torch.int32, device="cuda")
    lengths = torch.full((sequences,), length, dtype=torch.int32, device="cuda")
    one = torch.ones(1, device="cuda")
    kernel = Launched(module._kernel_paged_attention_2d, settings)  # noqa: SLF001
    with replaced(module, "_kernel_paged_attention_2d", kernel):
        module.chunked_prefill_paged_decode(
            q, new, new, half(sequences, 32, 128), "auto", keys, values, table, starts, lengths, 1, one, one
        )
