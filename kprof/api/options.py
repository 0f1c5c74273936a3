"""What the functions of the API take in common, and what it means for the parts below."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.targets.options import TargetOptions

Names = str | Sequence[str]
"""One name, several with commas between them, or a sequence: ``"gfx942"``, ``"gfx942,gfx950"``, ``["MI300X"]``."""

Values = Mapping[str, Any]


def names(given: Names) -> tuple[str, ...]:
    """The single names, without empty ones and repetitions, in order."""
    from kprof.inputs.assignments import listed

    return tuple(listed(given if isinstance(given, str) else ",".join(given)))


def target_options(
    *,
    arch: Names = (),
    config: Values | None = None,
    shape: Values | None = None,
    case: str | None = None,
    all_configs: bool = False,
    signature: str | None = None,
    constexprs: Values | None = None,
    grid: Sequence[int] | None = None,
    env: Mapping[str, Any] | None = None,
    values: "Mapping[str, int | Sequence[int]] | None" = None,
    passes: bool = False,
    jobs: int = 0,
) -> "TargetOptions":
    """How a target is compiled; see :class:`kprof.targets.options.TargetOptions`.

    Raises:
        TargetError: the grid has not one to three axes of at least one workgroup.
    """
    from kprof.errors import TargetError
    from kprof.targets.options import TargetOptions

    if grid is not None and not (1 <= len(grid) <= 3 and min(grid) > 0):
        raise TargetError(f"a grid has one to three numbers of workgroups, got {tuple(grid)}")
    return TargetOptions(
        archs=names(arch),
        config=dict(config or {}),
        shape=dict(shape or {}),
        case=case,
        all_configs=all_configs,
        signature=signature,
        constexprs=dict(constexprs or {}),
        grid=None if grid is None else tuple(grid),
        environment={name: str(value) for name, value in (env or {}).items()},
        values=dict(values or {}),
        passes=passes,
        jobs=jobs,
    )
