"""Group kernels into categories by rules. The rules are data, and a user's file may add further ones."""

import re
import sys
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from kprof.errors import InputError
from kprof.inputs import boundary
from kprof.inputs.torch_profiler.model import Activity, LinkedTrace

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OTHER = "other"
COMMUNICATION = "communication"
MEMORY = "memory"
_KEYS = ("kernel", "operator", "module")
# Maximum number of kernel names whose category is cached.
_MEMORY = 100_000
_DEEPEST = 50
# Maximum number of launches whose surrounding names are cached. Kernels of one launch follow each other closely.
_SCOPES = 1 << 12


@dataclass(frozen=True)
class CategoryRule:
    """One rule: a category, and patterns for the kernel, operator and module names; ``None`` matches any name."""

    name: str
    kernel: re.Pattern[str] | None
    operator: re.Pattern[str] | None
    module: re.Pattern[str] | None

    def fits(self, operators: str, modules: str) -> bool:
        """Return whether the operators and modules around a launch, as newline-joined names, match the rule."""
        return (self.operator is None or self.operator.search(operators) is not None) and (
            self.module is None or self.module.search(modules) is not None
        )


@dataclass
class Categories:
    """An ordered list of rules, with a cache of decisions."""

    rules: tuple[CategoryRule, ...]
    _known: dict[tuple[str, str, str], str] = field(default_factory=dict, repr=False)
    _by_kernel: dict[str, tuple[CategoryRule, ...]] = field(default_factory=dict, repr=False)
    _trace: LinkedTrace | None = field(default=None, repr=False)
    _scopes: dict[tuple[int, int], tuple[str, str]] = field(default_factory=dict, repr=False)

    def of_name(self, kernel: str) -> str:
        """Return the category by the kernel's name alone. Rules that test operators or modules are skipped."""
        return self._decide(kernel, "", "")

    def of(self, trace: LinkedTrace, activity: Activity) -> str:
        """Return the category of one GPU activity, by its name and by the operators and modules around its launch."""
        if activity.kind != "kernel":
            return MEMORY
        return self._of_kernel(trace, activity.name, activity.launch, activity.operator)

    def of_all(self, trace: LinkedTrace) -> list[str]:
        """Return the category of each GPU activity of a trace, in order."""
        kinds, names = trace.activities.words("kind"), trace.activities.words("name").words
        kernel, texts = kinds.code("kernel"), trace.activities.words("name").readable
        launches, operators = (trace.activities.numbers(field).readable for field in ("launch", "operator"))
        # The category depends only on the names of the kernel and of the operators and modules around its launch, so it
        # is determined once for each combination of names.
        paths = operator_paths(trace)
        frames = trace.launches.numbers("frame").data if len(trace.frames) else None
        known: dict[tuple[int, ...], str] = {}
        found: list[str] = []
        for kind, name, launch, operator in zip(kinds.readable, texts, launches, operators, strict=True):
            if kind != kernel:
                found.append(MEMORY)
                continue
            if frames is None:
                key: tuple[int, ...] = name, paths[operator]
            else:
                key = name, operator, frames[launch] if launch >= 0 else -1
            category = known.get(key)
            if category is None:
                category = known[key] = self._of_kernel(trace, names[name], launch, operator)
            found.append(category)
        return found

    def _of_kernel(self, trace: LinkedTrace, name: str, launch: int, operator: int) -> str:
        if trace is not self._trace:
            self._trace, self._scopes = trace, {}
        # Hundreds of kernels share one graph launch, so the names around it are cached.
        key = (launch, operator)
        scope = self._scopes.get(key)
        if scope is None:
            operators = "\n".join(trace.operator_names(operator))
            if len(self._scopes) >= _SCOPES:
                self._scopes.clear()
            scope = self._scopes[key] = (operators, "\n".join(trace.modules_of(launch, operator)))
        return self._decide(name, *scope)

    def _decide(self, kernel: str, operators: str, modules: str) -> str:
        key = (kernel, operators, modules)
        known = self._known.get(key)
        if known is None:
            known = next((r.name for r in self._candidates(kernel) if r.fits(operators, modules)), OTHER)
            if len(self._known) < _MEMORY:
                self._known[key] = known
        return known

    def _candidates(self, kernel: str) -> tuple[CategoryRule, ...]:
        """Return the rules whose kernel pattern matches, up to and including the first without other conditions.

        The result is cached, because names are long and occur many times.
        """
        found = self._by_kernel.get(kernel)
        if found is None:
            fitting = (r for r in self.rules if r.kernel is None or r.kernel.search(kernel) is not None)
            asking: list[CategoryRule] = []
            for rule in fitting:
                asking.append(rule)
                if rule.operator is None and rule.module is None:
                    break
            found = tuple(asking)
            if len(self._by_kernel) < _MEMORY:
                self._by_kernel[kernel] = found
        return found

    def names(self) -> list[str]:
        """Return every category once, in the order of the rules, with ``other`` last."""
        return [*dict.fromkeys(r.name for r in self.rules), OTHER]


def operator_paths(trace: LinkedTrace) -> list[int]:
    """Return a path number for each operator.

    Two operators have the same number if their names, and the names of all operators around them, are equal. The result
    has an additional last element, so that index -1 has the number for "no operator".
    """
    names, parents = trace.operators.words("name").data, trace.operators.numbers("parent").data
    numbers: dict[tuple[int, int], int] = {}
    found = [-1] * len(names) + [0]
    for start in range(len(names)):
        waiting = []
        at = start
        while found[at] < 0:
            waiting.append(at)
            at = parents[at]
        number = found[at]
        for at in reversed(waiting):
            key = number, names[at]
            number = found[at] = numbers.setdefault(key, len(numbers) + 1)
    return found


def load_categories(path: Path | str | None = None) -> Categories:
    """Return the rules of the user's file, if given, followed by the built-in rules.

    Raises:
        KprofError: if the file cannot be read, is not TOML, or contains an invalid rule.
    """
    shipped = _shipped()
    if path is None:
        return Categories(tuple(_rules(shipped, shipped.get("patterns", {}), "categories.toml")))
    own = boundary.toml_of(boundary.read_text(path), str(path))
    patterns = shipped.get("patterns", {}) | _table(own.get("patterns", {}), str(path))
    return Categories((*_rules(own, patterns, str(path)), *_rules(shipped, patterns, "categories.toml")))


@cache
def _shipped() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("categories.toml").read_text(encoding="utf-8"))


def _table(value: Any, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError("[patterns] has to be a table of lists", path=path)
    return value


def _rules(data: dict[str, Any], patterns: dict[str, Any], path: str) -> list[CategoryRule]:
    found = data.get("category", [])
    if not isinstance(found, list):
        raise InputError("rules are written as [[category]]", path=path)
    return [_rule(entry, number, patterns, path) for number, entry in enumerate(found, 1)]


def _rule(entry: Any, number: int, patterns: dict[str, Any], path: str) -> CategoryRule:
    place = f"category {number}"
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str) or not entry["name"]:
        raise InputError("a category needs a name", path=path, place=place)
    unknown = ", ".join(sorted(set(entry) - {"name", *_KEYS}))
    if unknown or not set(entry) & set(_KEYS):
        raise InputError(
            f"category {entry['name']!r} {'has unknown keys: ' + unknown if unknown else 'is empty'}",
            path=path,
            place=place,
            hint=f"keys are name, {', '.join(_KEYS)}",
        )
    compiled = {key: _pattern(entry[key], patterns, path, place) for key in _KEYS if key in entry}
    return CategoryRule(entry["name"], compiled.get("kernel"), compiled.get("operator"), compiled.get("module"))


def _pattern(value: Any, patterns: dict[str, Any], path: str, place: str) -> re.Pattern[str]:
    parts: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        if not isinstance(item, str):
            raise InputError("patterns are texts", path=path, place=place)
        if item.startswith("@"):
            if item[1:] not in patterns:
                raise InputError(f"no pattern {item[1:]!r} under [patterns]", path=path, place=place)
            named = patterns[item[1:]]
            if not isinstance(named, list) or not all(isinstance(part, str) for part in named):
                raise InputError(f"[patterns] {item[1:]} has to be a list of texts", path=path, place=place)
            parts.extend(named)
        else:
            parts.append(item)
    # The time to compile a pattern grows with the square of its nesting depth, so deep patterns are rejected.
    if any(boundary.brackets(part, "()") > _DEEPEST for part in parts):
        raise InputError("not a regular expression: nested too deep", path=path, place=place)
    try:
        return re.compile("|".join(f"(?:{part})" for part in parts), re.IGNORECASE | re.MULTILINE)
    except (re.error, OverflowError) as error:
        raise InputError(f"not a regular expression: {error}", path=path, place=place) from error
