"""What the numbers in a kernel's inputs are.

They do not change what is computed but what it draws: a matrix unit that multiplies zeros runs at higher clocks than
one that multiplies random numbers. AMD's workload guide orders them from fast to slow as zeros, one whole number
everywhere, random whole numbers, random floats, with more than 20 % between the ends.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

OWN = "own"
VALUES = (OWN, "zeros", "same", "integers", "normal")
"""``own``: as the kernel's file draws them; ``same``: 2 everywhere; ``integers``: -8 to 7; ``normal``: mean 0 and
spread 1."""


def refilled(inputs: Mapping[str, Any], values: str, seed: int) -> dict[str, Any]:
    """The inputs with other numbers in their floating-point tensors; shapes, strides and types stay.

    Tensors of whole numbers stay, as they may be lengths, indices or packed weights.

    Args:
        inputs: of a kernel, by name; tensors may lie in lists and tuples.
        values: one of :data:`VALUES`.
        seed: of the random ones.
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
            # One number at many places: it cannot be written element by element.
            return value
        device = str(value.device)
        if device not in generators:
            generators[device] = torch.Generator(device=value.device).manual_seed(seed)
        # Through a new tensor of float32: types of 8 bits cannot be drawn, and views are written where they point.
        value.copy_(_drawn(value.shape, values, generators[device]).to(value.dtype))
        return value

    return {name: refill(value) for name, value in inputs.items()}


def _drawn(shape: "torch.Size", values: str, generator: "torch.Generator") -> "torch.Tensor":
    import torch

    device = generator.device
    if values == "zeros":
        return torch.zeros(shape, device=device)
    if values == "same":
        return torch.full(shape, 2.0, device=device)
    if values == "integers":
        return torch.randint(-8, 8, shape, device=device, generator=generator).float()
    return torch.randn(shape, device=device, generator=generator)
