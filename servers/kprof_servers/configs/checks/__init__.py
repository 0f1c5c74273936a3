"""Registry of the checks. Each rule, or family of rules, is one file in this package."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof_servers.configs.checks.check import ConfigCheck


@lru_cache(maxsize=1)
def checks() -> "tuple[ConfigCheck, ...]":
    """Return one instance of each check, ordered by identifier.

    Raises:
        ValueError: two checks share an identifier or a name (a mistake in the code, not in any input).
    """
    from importlib import import_module
    from pkgutil import iter_modules

    from kprof_servers.configs.checks.check import ConfigCheck

    for module in iter_modules(__path__, prefix=f"{__name__}."):
        import_module(module.name)
    found = sorted((cls() for cls in _leaves(ConfigCheck)), key=lambda c: c.id)
    for attribute in ("id", "name"):
        values = [getattr(check, attribute) for check in found]
        twice = {v for v in values if values.count(v) > 1}
        if twice:
            raise ValueError(f"checks share the {attribute} {sorted(twice)}")
    return tuple(found)


def _leaves(cls: Any) -> "list[type[ConfigCheck]]":
    below: list[type[ConfigCheck]] = cls.__subclasses__()
    return [leaf for sub in below for leaf in _leaves(sub)] if below else [cls]
