"""Problem sizes to tune for: from options, from a kernel's cases, and from size files of other tuners."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kprof.errors import InputError, TargetError, near_hint
from kprof.kernel_spec import ELEMENT_TYPES
from kprof.output.assignments import assigned
from kprof.tuning import space_file

if TYPE_CHECKING:
    from kprof.kernel_spec import Kernel

MOST_PROBLEMS = 256

# Layout keys in the size files of ROCm's tune_gemm and stream-K tuners. Their "row-major" means "not transposed" here.
_LAYOUTS = {"rowMajorA": "trans_a", "rowMajorB": "trans_b"}
_TUNER_KNOBS = frozenset({
    "BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "SPLIT_K", "num_warps", "num_stages",
    "waves_per_eu", "matrix_instr_nonkdim", "kpack", "schedule_hint", "NUM_SMS", "XCD_REMAP",
})  # fmt: skip


@dataclass(frozen=True)
class Problem:
    """One problem to find a configuration for.

    Attributes:
        name: ``M=4096 N=4096 K=4096``, or the name of a case.
        values: every parameter.
        assumed: parameters that were not given, with their default values.
    """

    name: str
    values: Mapping[str, Any]
    assumed: Mapping[str, Any] = field(default_factory=dict)


def read_shapes(path: str) -> list[dict[str, Any]]:
    """Return the sizes in a YAML, JSON or TOML file: a list of tables, or a table with such a list as ``shapes``.

    ``rowMajorA`` and ``rowMajorB`` of ROCm's tuners, ``T`` or ``N``, become ``trans_a`` and ``trans_b``. A
    configuration given next to a size is ignored.

    Raises:
        KprofError: if the file cannot be read or does not contain such a list.
    """
    data = space_file.load(path)
    if isinstance(data, Mapping) and isinstance(data.get("shapes"), list):
        data = data["shapes"]
    if not isinstance(data, list) or not data:
        raise InputError("is not a list of sizes", path=path, hint="- {M: 4096, N: 4096, K: 4096}")
    if len(data) > MOST_PROBLEMS:
        raise InputError(f"lists {len(data)} sizes, more than {MOST_PROBLEMS}", path=path)
    return [_entry(item, path, number) for number, item in enumerate(data, 1)]


def _entry(item: Any, path: str, number: int) -> dict[str, Any]:
    if not isinstance(item, Mapping) or not item:
        raise InputError("is not a table of sizes", path=path, place=f"entry {number}")
    found: dict[str, Any] = {}
    for name, value in item.items():
        if name in _LAYOUTS:
            if value not in ("T", "N"):
                raise InputError(f"{name} is T or N, got {value!r}", path=path, place=f"entry {number}")
            found[_LAYOUTS[name]] = value == "N"
        elif name not in _TUNER_KNOBS:
            if not isinstance(value, bool | int | float | str):
                raise InputError(f"{name} is neither a number nor text", path=path, place=f"entry {number}")
            found[str(name)] = value
    return found


def problems(
    kernel: "Kernel", arch: str, shapes: Iterable[Mapping[str, Any]], cases: Iterable[str] = ()
) -> list[Problem]:
    """Return the problems that cases and sizes define; if there are neither, the kernel's first case.

    Raises:
        KprofError: if a case, parameter or element type is unknown, a size is not positive, or the architecture does
            not support a problem.
    """
    wanted: list[tuple[str | None, Mapping[str, Any]]] = [*((case, {}) for case in cases), *((None, s) for s in shapes)]
    found: dict[str, Problem] = {}
    for case, shape in wanted or [(None, {})]:
        problem = _problem(kernel, arch, case, shape)
        found.setdefault(repr(sorted(problem.values.items(), key=str)), problem)
    if len(found) > MOST_PROBLEMS:
        raise TargetError(f"{len(found)} problems are more than {MOST_PROBLEMS}")
    return list(found.values())


def _problem(kernel: "Kernel", arch: str, case: str | None, shape: Mapping[str, Any]) -> Problem:
    if not kernel.shapes:
        shape = {name: _of_kind(name, value, 1 if name.isupper() else value) for name, value in shape.items()}
        _check_values(shape)
        return Problem(assigned(shape) or kernel.name, dict(shape))
    known = {name: value for listed in kernel.shapes.values() for name, value in listed.items()}
    # A kernel that supports only one layout has no flag for it, so "not transposed" is accepted for it.
    shape = {n: v for n, v in shape.items() if n in known or v is not False or n not in _LAYOUTS.values()}
    for name in shape.keys() - known.keys():
        raise TargetError(f"{kernel.name} has no shape parameter {name!r}", hint=near_hint(name, known, "It has"))
    shape = {name: _of_kind(name, value, known[name]) for name, value in shape.items()}
    values = kernel.problem(arch, case, shape)
    _check_values(values)
    reason = kernel.unsupported(arch, values) if kernel.unsupported is not None else None
    if reason:
        raise TargetError(f"{kernel.name} cannot run on {arch}: {reason}")
    if shape:
        return Problem(assigned(shape), values, {n: v for n, v in values.items() if n not in shape})
    name = case or next(iter(kernel.shapes))
    return Problem(name, values, {} if case else values)


def _of_kind(name: str, value: Any, like: Any) -> Any:
    """Convert a value to the type of its parameter: 4e3 becomes 4000 for an integer parameter.

    Raises:
        KprofError: if the value cannot be converted.
    """
    if isinstance(like, bool) or not isinstance(like, int) or isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    raise TargetError(f"{name}={value}: expected a whole number")


def _check_values(values: Mapping[str, Any]) -> None:
    for name, value in values.items():
        if "dtype" in name and isinstance(value, str) and value not in ELEMENT_TYPES:
            known = ", ".join(ELEMENT_TYPES)
            raise TargetError(f"no element type {value!r} for {name}", hint=f"known types: {known}, fp8_e4m3, fp8_e5m2")
        if isinstance(value, int) and not isinstance(value, bool) and not -(2**31) < value < 2**40:
            raise TargetError(f"{name}={value} is out of range for a size")
        if isinstance(value, int) and not isinstance(value, bool) and value < 1 and name.isupper():
            raise TargetError(f"{name}={value}: a size must be positive")
