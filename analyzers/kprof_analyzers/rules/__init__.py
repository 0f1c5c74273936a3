"""Registry of all rules. Each rule is one file in a family folder of this package."""

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof_analyzers.rules.rule import Rule


@lru_cache(maxsize=1)
def rules() -> "tuple[Rule, ...]":
    """Return one instance of each rule, ordered by identifier.

    Raises:
        ValueError: two rules share an identifier or a name (a mistake in the code, not in any input).
    """
    from importlib import import_module
    from pkgutil import walk_packages

    from kprof_analyzers.rules.rule import Rule

    for module in walk_packages(__path__, prefix=f"{__name__}."):
        import_module(module.name)
    found = sorted((cls() for cls in _leaves(Rule) if cls.__module__.startswith(__name__)), key=lambda r: r.id)
    for attribute in ("id", "name"):
        values = [getattr(rule, attribute) for rule in found]
        twice = {v for v in values if values.count(v) > 1}
        if twice:
            raise ValueError(f"rules share the {attribute} {sorted(twice)}")
    return tuple(found)


def known_rules() -> "tuple[Rule, ...]":
    """Return the rules of all installed analyzers, including those of other distributions."""
    from kprof.analysis import discover
    from kprof_analyzers.rules.rule import Rule

    return tuple(analyzer for analyzer in discover() if isinstance(analyzer, Rule))


def launch_rules() -> frozenset[str]:
    """Return the identifiers of the rules whose findings make a launch fail."""
    return frozenset(rule.id for rule in known_rules() if rule.launch_fails)


def _leaves(cls: Any) -> "list[type[Rule]]":
    below: list[type[Rule]] = cls.__subclasses__()
    return [leaf for sub in below for leaf in _leaves(sub)] if below else [cls]
