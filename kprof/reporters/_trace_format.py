"""Format times, shares and names in texts about traces and measured kernels."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from kprof.inputs.mangled import demangled
from kprof.output.sink import one_line

_TENSILE = re.compile(r"^(Cijk_[A-Za-z]+_[A-Za-z]+_[A-Z0-9]+)_\w*?_(?=MT\d+x)(.*)$")


def label(path: str, length: int = 40) -> str:
    """Return a file's name without suffixes, with its folder if the name is short; long names are cut in the middle."""
    name = Path(path).name
    for ending in (".gz", ".json", ".trace", ".pt"):
        name = name.removesuffix(ending)
    short = f"{Path(path).parent.name}/{name}" if len(name) < 16 else name
    half = length // 2
    return short if len(short) <= length else f"{short[:half]}…{short[half + 1 - length :]}"


def kernel_labels(names: Sequence[str], among: Iterable[str] = ()) -> list[str]:
    """Return a short name for each kernel; kernels that would get the same short name get longer ones.

    Args:
        names: kernels to name.
        among: further kernels, from whose short names the returned names must differ.

    >>> kernel_labels(["f<1>()", "g<1>()", "g<1>()"], ["f<2>()"])
    ['f<1>()', 'g', 'g']
    """
    from kprof.inputs.rocprof.names import short

    brief = {name: short(name) for name in dict.fromkeys((*names, *among))}
    shared = Counter(brief.values())
    return [kernel_label(name if shared[brief[name]] > 1 else brief[name]) for name in names]


def kernel_label(name: str, length: int = 0) -> str:
    """Return a kernel's name without its return type and PyTorch's namespaces.

    >>> kernel_label("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8>(float*)", 20)
    'cunn_SoftMaxForward…'
    >>> kernel_label("Cijk_Ailk_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT64x224x64_MI16x16x1_SN")
    'Cijk_Ailk_Bljk_BBS…MT64x224x64_MI16x16x1_SN'
    >>> kernel_label("_ZN2at6native13reduce_kernelILi512EfEEvT0_")
    'reduce_kernel<512, float>(float)'
    """
    text = (demangled(name) or name).removeprefix("void ")
    for common in ("(anonymous namespace)::", "at::native::"):
        text = text.replace(common, "")
    # Names of Tensile's kernels share a long prefix up to the macro tile, so shorten it.
    text = one_line(_TENSILE.sub(r"\1…\2", text))
    return text if not length or len(text) <= length else f"{text[: length - 1]}…"
