"""Choose the numbers in a kernel's inputs.

They do not change the amount of computation but the power: a matrix unit that multiplies zeros runs at higher clocks
than one that multiplies random numbers. AMD's workload guide orders inputs from fast to slow: zeros, one integer
everywhere, random integers, random floats. The fastest and the slowest differ by more than 20 %.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

OWN = "own"
VALUES = (OWN, "zeros", "same", "integers", "normal")
"""``own``: as the kernel's file generates them; ``same``: 2 everywhere; ``integers``: -8 to 7; ``normal``: mean 0 and
standard deviation 1."""


def refilled(inputs: Mapping[str, Any], values: str, seed: int) -> dict[str, Any]:
    """Return the inputs with other numbers in their floating-point tensors; shapes, strides and types are kept.

    Integer tensors are not changed, because they may contain lengths, indices or packed weights.

    Args:
        inputs: inputs of a kernel, by name; tensors may be inside lists and tuples.
        values: one of :data:`VALUES`.
        seed: seed of the random numbers.
    """
    import torch

    if values == OWN:
        return dict(inputs)
    generators: dict[str, torch.Generator] = {}

    def refill(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(refill(each) for each in value)
        if not isinstance(value, torch.Tensor) or not value.is_floating_point():
            return value
        if any(step == 0 and size > 1 for step, size in zip(value.stride(), value.shape, strict=True)):
            # In an expanded tensor, several elements share one memory location, so elements cannot be set separately.
            return value
        device = str(value.device)
        if device not in generators:
            generators[device] = torch.Generator(device=value.device).manual_seed(seed)
        # Drawn as float32 first, because 8-bit types cannot be drawn; copying also writes through views.
        value.copy_(_draw_values(value.shape, values, generators[device]).to(value.dtype))
        return value

    return {name: refill(value) for name, value in inputs.items()}


def _draw_values(shape: "torch.Size", values: str, generator: "torch.Generator") -> "torch.Tensor":
    import torch

    device = generator.device
    if values == "zeros":
        return torch.zeros(shape, device=device)
    if values == "same":
        return torch.full(shape, 2.0, device=device)
    if values == "integers":
        return torch.randint(-8, 8, shape, device=device, generator=generator).float()
    return torch.randn(shape, device=device, generator=generator)
