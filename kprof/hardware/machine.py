"""Find and load architectures and products.

>>> load("gfx942").lds.bytes_per_cu
65536
>>> load("MI355X").name
'gfx950'
"""

import re
from functools import cache
from pathlib import Path

from kprof.errors import LONGEST_NAME, HardwareError
from kprof.hardware.code import IssueRules, LlvmFacts, TritonFacts
from kprof.hardware.model import (
    Architecture,
    FigureSource,
    LdsRules,
    MatrixInstruction,
    MemoryLevel,
    OccupancyRules,
    Product,
    VgprFile,
)

__all__ = [
    "Architecture",
    "FigureSource",
    "IssueRules",
    "LdsRules",
    "LlvmFacts",
    "MatrixInstruction",
    "MemoryLevel",
    "OccupancyRules",
    "Product",
    "TritonFacts",
    "VgprFile",
    "architectures",
    "elf_machines",
    "find_product",
    "load",
    "load_gpu",
    "product_in",
    "products",
]

_FOLDER = Path(__file__).parent


@cache
def architectures() -> tuple[str, ...]:
    """Return the names of all architectures, from the oldest to the newest: ``("gfx908", "gfx90a", ...)``."""
    names = (p.stem for p in _FOLDER.glob("gfx*.toml"))
    return tuple(sorted(names, key=lambda n: (len(n), n)))


@cache
def products() -> dict[str, str]:
    """Map each product's name to its architecture's name.

    Only the headings of the files are read, so that looking up one product does not parse every architecture.

    Raises:
        HardwareError: two files contain a product of the same name.
    """
    found: dict[str, str] = {}
    spelled: dict[str, str] = {}
    for arch in architectures():
        for line in (_FOLDER / f"{arch}.toml").read_text(encoding="utf-8").splitlines():
            if line.startswith("[products."):
                name = line.removeprefix("[products.").partition("]")[0]
                if "." in name:
                    continue
                if (other := spelled.setdefault(_normalised_name(name), arch)) != arch:
                    message = f"the product {name} is listed for both {other} and {arch}"
                    raise HardwareError(message, path=str(_FOLDER / f"{arch}.toml"), hint="Rename one of them.")
                found[name] = arch
    return found


@cache
def elf_machines() -> dict[int, str]:
    """Map ``EF_AMDGPU_MACH`` values to architecture names; only the line with the value is read from each file."""
    found = {}
    for arch in architectures():
        for line in (_FOLDER / f"{arch}.toml").read_text(encoding="utf-8").splitlines():
            if line.startswith("elf_machine"):
                found[int(line.partition("=")[2].partition("#")[0], 0)] = arch
    return found


def load(name: str) -> Architecture:
    """Return the architecture called ``name``.

    Args:
        name: ``gfx942``, with or without features (``gfx942:sramecc+:xnack-``), or a product (``MI300X``, ``AMD
            Instinct MI300X``); case does not matter.

    Raises:
        KprofError: unknown name; the message contains similar names.
    """
    arch = name.strip().lower().partition(":")[0]
    if arch in architectures():
        return _load(arch)
    product = _product_name(name)
    if product is not None:
        return _load(products()[product])
    raise HardwareError(f"no architecture or product {name!r}{_near(name)}", hint="kprof list gpus shows all of them")


def load_gpu(name: str) -> tuple[Architecture, Product | None]:
    """Return the architecture called ``name``, and the product if ``name`` is a product.

    Raises:
        KprofError: as :func:`load`.
    """
    return load(name), find_product(name)


def find_product(name: str) -> Product | None:
    """Return the product called ``name``, in any spelling that :func:`load` accepts; ``None`` if there is none."""
    product = _product_name(name)
    return None if product is None else _load(products()[product]).products[product]


def product_in(text: str) -> str | None:
    """Return the product that a device's name contains, or ``None``.

    >>> product_in("AMD Instinct MI300X VF"), product_in("MI300X_A1"), product_in("AMD Radeon RX 7900 XTX")
    ('MI300X', 'MI300X', 'RX7900XTX')
    """
    words = re.split(r"[^A-Za-z0-9]+", text)
    # Try the longest names first, because an RX 7600 XT is not an RX 7600.
    candidates = ["".join(words[i : i + count]) for count in (3, 2, 1) for i in range(len(words) - count + 1)]
    return next((word for word in candidates if word and find_product(word) is not None), None)


def usual_model() -> dict[str, float]:
    """Return the performance model's default parameters, for architectures that set none; model.toml has the units."""
    from kprof.hardware.reader import common_model

    return common_model(_FOLDER / "model.toml")


@cache
def _load(arch: str) -> Architecture:
    from kprof.hardware.reader import read

    return read(_FOLDER / f"{arch}.toml", _FOLDER / "sources.toml", _FOLDER / "model.toml")


def _product_name(name: str) -> str | None:
    wanted = _normalised_name(name)
    return next((p for p in products() if _normalised_name(p) == wanted), None)


def _normalised_name(name: str) -> str:
    """Normalise a product's name: ``AMD Instinct MI300X`` equals ``mi300x``, ``MI250X GCD`` equals ``MI250X_GCD``."""
    words = name.upper().replace("_", " ").replace("-", " ").split()
    return "".join(w for w in words if w not in {"AMD", "INSTINCT", "RADEON", "TM", "(TM)", "GRAPHICS"})


def _near(name: str) -> str:
    if len(name) > LONGEST_NAME:
        return ""
    from difflib import get_close_matches

    known = {n.lower(): n for n in (*architectures(), *products())}
    matches = get_close_matches(name.lower(), known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(repr(known[m]) for m in matches)}?" if matches else ""
