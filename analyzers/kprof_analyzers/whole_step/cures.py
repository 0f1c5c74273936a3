"""Suggest settings and code that reduce the time of torch's operators, by kind of operator."""

from typing import NamedTuple

from kprof_analyzers.whole_step.kinds import kind_of


class OperatorSuggestion(NamedTuple):
    """A setting, an environment variable or a line of code that may make an operator faster.

    Attributes:
        text: text to type.
        why: effect of the text.
    """

    text: str
    why: str


ANY_PROGRAM = "python PROGRAM"
"""Placeholder for the command of an unknown program."""
GENERATED = "triton_"
"""Prefix of the names of torch.compile's kernels."""
FUSE = OperatorSuggestion("torch.compile(model)", "it fuses memory-bound operators")
ATTENTION = OperatorSuggestion(
    "torch.nn.functional.scaled_dot_product_attention(q, k, v)",
    "one fused kernel in place of product, softmax and product",
)
LIBRARY_CURES = {
    "product": OperatorSuggestion(
        f"PYTORCH_TUNABLEOP_ENABLED=1 {ANY_PROGRAM}", "on the GPU it times the libraries' kernels for each product"
    ),
    "convolution": OperatorSuggestion(
        "torch.backends.cudnn.benchmark = True", "on the GPU MIOpen times its kernels and keeps the fastest"
    ),
    "attention": OperatorSuggestion(
        'torch.backends.cuda.preferred_rocm_fa_library("ck")', "the other library for flash attention"
    ),
}
"""For each kind of operator, the setting that lets torch select another library kernel."""
_MORE_CONFIGURATIONS = OperatorSuggestion(
    f"TORCHINDUCTOR_MAX_AUTOTUNE=1 {ANY_PROGRAM}", "torch.compile tries more configurations"
)


def suggestion_for(name: str) -> OperatorSuggestion:
    """Return the suggestion for an operator, or for a kernel that torch.compile generated.

    >>> suggestion_for("aten::convolution").text, suggestion_for("aten::add").text
    ('torch.backends.cudnn.benchmark = True', 'torch.compile(model)')
    """
    return _MORE_CONFIGURATIONS if name.startswith(GENERATED) else LIBRARY_CURES.get(kind_of(name), FUSE)
