"""Read a search space from a TOML, YAML or JSON file, and problem sizes from such a file.

A space is a table of knobs, each with a list of values, and optionally ``constraints``, a list of comparisons::

    BLOCK_M = [64, 128, 256]
    num_warps = [4, 8]
    constraints = ["BLOCK_M * BLOCK_N <= 65536"]

or a list of complete configurations. Sizes are a list of tables, ``- {M: 4096, N: 4096, K: 4096}``.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kprof.errors import InputError, KprofError
from kprof.expressions import SCALARS, parse
from kprof.inputs import boundary
from kprof.tuning.space import MOST_COMBINATIONS, Space

MOST_BYTES = 8 << 20
"""Maximum size of a space file in bytes."""

_FORMS = {".toml": "TOML", ".yaml": "YAML", ".yml": "YAML", ".json": "JSON"}


def read(path: str) -> Space:
    """Read a space from a file.

    Raises:
        KprofError: if the file cannot be read, is malformed, or contains no space.
    """
    data = load(path)
    if isinstance(data, Mapping) and isinstance(data.get("space"), Mapping):
        data = {**data["space"], **({"constraints": data["constraints"]} if "constraints" in data else {})}
    if isinstance(data, list):
        return Space(path, listed=_configurations(data, path))
    if not isinstance(data, Mapping):
        raise InputError("holds neither knobs nor a list of configurations", path=path, hint=_EXAMPLE)
    constraints = data.get("constraints", [])
    if not isinstance(constraints, list) or not all(isinstance(c, str) for c in constraints):
        raise InputError("constraints is not a list of comparisons", path=path, hint='constraints = ["BLOCK_M <= 128"]')
    knobs = {str(name): _values(name, values, path) for name, values in data.items() if name != "constraints"}
    if not knobs:
        raise InputError("names no knobs", path=path, hint=_EXAMPLE)
    try:
        parsed = tuple(parse(text, "the constraint", SCALARS) for text in constraints)
    except KprofError as error:
        raise InputError(error.message, path=path, hint=error.hint) from None
    return Space(path, knobs=knobs, constraints=parsed)


_EXAMPLE = "a table of knobs with lists of values: BLOCK_M = [64, 128]"


def load(path: str) -> Any:
    """Return the parsed contents of a TOML, YAML or JSON file.

    Raises:
        KprofError: if the file cannot be read, is too large, or does not have the format of its suffix.
    """
    place = Path(path)
    form = _FORMS.get(place.suffix.lower())
    text = boundary.read_text(place, most=MOST_BYTES)
    if form is None:
        raise InputError("is not a .toml, .yaml or .json file", path=path)
    if form == "TOML":
        return boundary.toml_of(text, path)
    if form == "YAML":
        return boundary.yaml_of(text, path)
    try:
        boundary.refuse_repeated_keys(text.encode(), path, "is not a space of configurations")
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        words = "nested too deep" if isinstance(error, RecursionError) else error
        raise InputError(f"is not valid JSON: {words}", path=path) from error


def _values(name: Any, values: Any, path: str) -> tuple[Any, ...]:
    listed = values if isinstance(values, list) else [values]
    for value in listed:
        if not isinstance(value, bool | int | float | str) and value is not None:
            raise InputError(f"{name} has a value that is not a number, text or boolean: {value!r}"[:200], path=path)
    if len(listed) > MOST_COMBINATIONS:
        raise InputError(f"{name} has {len(listed):,} values", path=path)
    # True and 1 are equal in Python, but are different values for a kernel.
    return tuple(value for _, value in dict.fromkeys((type(v), v) for v in listed))


def _configurations(data: list[Any], path: str) -> tuple[Mapping[str, Any], ...]:
    if not data:
        raise InputError("is an empty list", path=path)
    for number, config in enumerate(data, 1):
        if not isinstance(config, Mapping) or not config:
            raise InputError("is not a configuration: a table of knobs and values", path=path, place=f"entry {number}")
        for name, value in config.items():
            if not isinstance(value, bool | int | float | str) and value is not None:
                raise InputError(f"{name} is not a number, text or boolean", path=path, place=f"entry {number}")
    distinct = {repr(sorted(c.items(), key=str)): {str(n): v for n, v in c.items()} for c in data}
    return tuple(distinct.values())
