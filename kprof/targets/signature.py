"""Convert argument types written by a user to a compile request, for kernels without a specification.

The text is similar to that of Triton's ahead-of-time compiler::

    *fp16, *fp16:16, i32, i32:16, fp32, 1024

It has one item for every argument that is not ``tl.constexpr`` (or for every argument at all), or ``name=item`` in any
order. Pointers are assumed to be like torch's: 16-byte aligned, and with a 32-bit range; ``*fp16:1`` is an unaligned
pointer, ``*fp16:wide`` one whose storage exceeds 2 GiB. Integers get no hint unless written: ``i32:16`` is a multiple
of 16. A number, ``true`` or ``none`` is a value of a launch: ``4096`` is specialised as in a launch with 4096.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from kprof.compiler.request import CompileRequest
from kprof.errors import KprofError, TargetError, near_hint
from kprof.importing.functions import Function, load_function
from kprof.kernel_spec import ELEMENT_TYPES, Launch, Tensor
from kprof.targets.specialize import DIVISIBILITY, from_launch

_ALIASES = {
    "float64": "fp64", "double": "fp64", "float32": "fp32", "float": "fp32", "float16": "fp16", "half": "fp16",
    "bfloat16": "bf16", "bool": "i1", "u1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int": "i32",
    "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float8_e4m3fn": "fp8e4nv",
    "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2": "fp8e5", "float8_e5m2fnuz": "fp8e5b16",
}  # fmt: skip
_TYPES = frozenset(ELEMENT_TYPES) | {"u16", "u32", "u64", "fp8e4b15"}
_LITERALS: Mapping[str, Any] = {"true": True, "false": False, "none": None}
_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F]+|\d+)")
_FLOAT = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+)([eE][+-]?\d+)?|[+-]?(inf|nan)")

SignatureLike = str | Mapping[str, Any] | Sequence[Any] | None


def from_signature(
    function: Function,
    signature: SignatureLike,
    arch: str,
    constexprs: Mapping[str, Any] | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    environment: Mapping[str, str | None] | None = None,
    passes: bool = False,
) -> CompileRequest:
    """Return a compile request for written argument types.

    Args:
        function: a function from :func:`kprof.importing.functions.load_function`.
        signature: text in the module's format, a sequence of items, or a mapping of items by argument name.
        arch: architecture, such as ``gfx942``.
        constexprs: values of arguments. For a ``tl.constexpr`` argument it is the compile-time value, for another
            argument the value that a launch would pass. Missing values are taken from the first configuration of
            ``@triton.autotune`` and from the arguments' defaults.
        options: backend options, which override the autotuner's first configuration.
        environment: environment variables for this compile.
        passes: whether to keep the MLIR after every pass.

    Raises:
        KprofError: if the number of items is wrong, a type or argument is unknown, or an argument has neither type nor
            value.
    """
    known = function.arguments
    values = dict(constexprs or {})
    for name in values:
        if name not in known:
            raise _unknown(function, name)
    items = items_by_name(function, signature, values)
    tuned = dict(function.configs[0]) if function.configs else {}
    given = {name: read_item(function, name, item) for name, item in items.items()}
    for name in values:
        if name in given:
            raise TargetError(
                f"{function.name}: {name!r} is given in the signature and as a value", path=_path(function)
            )
    launch_args = {**{k: v for k, v in tuned.items() if k in known}, **given, **values}
    _complete(function, launch_args)
    typed = {name: value for name, value in launch_args.items() if isinstance(value, Typed)}
    launch = Launch({name: value.example if name in typed else value for name, value in launch_args.items()}, ())
    request = from_launch(
        function.jit,
        launch,
        arch,
        {**{k: v for k, v in tuned.items() if k not in known}, **(options or {})},
        environment,
        passes=passes,
    )
    return _retyped(request, function, typed)


def numbers(
    function: Function, signature: SignatureLike, constexprs: Mapping[str, Any] | None = None
) -> dict[str, int | float]:
    """Return the numeric arguments of a launch with this signature by name: those written as values, not as types.

    Raises:
        KprofError: see :func:`from_signature`.
    """
    values = dict(constexprs or {})
    given = {name: read_item(function, name, item) for name, item in items_by_name(function, signature, values).items()}
    known = {**given, **{name: value for name, value in values.items() if name not in function.constexprs}}
    return {name: value for name, value in known.items() if isinstance(value, int | float)}


def load_signature(
    path: str, name: str, signature: SignatureLike, arch: str, constexprs: Mapping[str, Any] | None = None, **rest: Any
) -> CompileRequest:
    """Call :func:`from_signature` for ``file.py::name``.

    Raises:
        KprofError: see :func:`from_signature` and :func:`kprof.importing.functions.load_function`.
    """
    return from_signature(load_function(path, name), signature, arch, constexprs, **rest)


class Typed:
    """An argument with a known type, and an example value that a launch specialises in the same way.

    Attributes:
        kind: type in Triton's signature.
        example: example value for a launch.
        hints: known hints about the value; ``None`` if the example's own hints are right.
    """

    def __init__(self, kind: str, example: Any, hints: Mapping[str, int] | None) -> None:
        self.kind = kind
        self.example = example
        self.hints = hints


def _retyped(request: CompileRequest, function: Function, typed: Mapping[str, Typed]) -> CompileRequest:
    """Return the example launch's request with the written types of scalars instead of the examples' types."""
    from dataclasses import replace

    signature, attributes = dict(request.signature), dict(request.attributes)
    for parameter in function.jit.params:
        value = typed.get(parameter.name)
        if value is None or value.hints is None:
            continue
        signature[parameter.name] = parameter.annotation_type or value.kind
        if parameter.do_not_specialize:
            attributes.pop(parameter.name, None)
        elif parameter.name in attributes:
            attributes[parameter.name] = value.hints
    return replace(request, signature=signature, attributes=attributes)


def items_by_name(
    function: Function, signature: SignatureLike, values: Mapping[str, Any], sizes: Mapping[str, Any] = {}
) -> dict[str, Any]:
    """Return the items of a signature by argument name.

    Args:
        function: the function.
        signature: text, sequence or mapping.
        values: values of arguments, which may be left out of the signature.
        sizes: values of arguments that the signature may also list with a type.

    Raises:
        KprofError: if the number of items is wrong, or a name is not an argument.
    """
    if signature is None:
        return {}
    if isinstance(signature, Mapping):
        return _checked(function, dict(signature))
    items = list(_split(signature)) if isinstance(signature, str) else list(signature)
    named = [item.partition("=") for item in items if isinstance(item, str) and "=" in item]
    if named and len(named) == len(items):
        return _checked(function, {name.strip(): item.strip() for name, _, item in named})
    if named:
        raise TargetError("a signature names all of its arguments or none", path=_path(function))
    known = {*values, *sizes}
    for chosen in (
        [name for name in function.arguments if name not in function.constexprs and name not in known],
        [name for name in function.arguments if name not in function.constexprs and name not in values],
        [name for name in function.arguments if name not in function.constexprs],
        list(function.arguments),
    ):
        if len(chosen) == len(items):
            return dict(zip(chosen, items, strict=True))
    wanted = [name for name in function.arguments if name not in function.constexprs]
    raise TargetError(
        f"{function.name} takes {len(wanted)} arguments besides its constexprs, the signature has {len(items)}",
        path=_path(function),
        hint=f"they are {', '.join(wanted)}" if wanted else None,
    )


def _checked(function: Function, items: dict[str, Any]) -> dict[str, Any]:
    for name in items:
        if name not in function.arguments:
            raise _unknown(function, name)
    return items


def _split(text: str) -> Iterator[str]:
    """Split at commas outside of brackets: ``tensordesc<fp16[64, 64]>`` is one item."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        depth += (character in "<[(") - (character in ">])")
        if character == "," and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def read_item(function: Function, name: str, item: Any) -> Any:
    """Parse one item: a type becomes :class:`Typed`, anything else is a launch's value.

    Raises:
        KprofError: if the item is neither a type nor a value.
    """
    if not isinstance(item, str):
        return item
    text = item.strip()
    if text.lower() in _LITERALS:
        return _LITERALS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    if name in function.constexprs:
        if text == "constexpr":
            raise TargetError(
                f"{function.name}: {name!r} is a constexpr and needs a value",
                path=_path(function),
                hint=f"--constexpr {name}=...",
            )
        return text
    return _typed(function, name, text)


def _typed(function: Function, name: str, text: str) -> Typed:
    if text.startswith("tensordesc<"):
        return Typed(text, None, {})
    kind, *hints = (part.strip() for part in text.split(":"))
    pointer, element = kind.startswith("*"), kind.lstrip("*").removeprefix("k").strip()
    element = _ALIASES.get(element.removeprefix("tl."), element.removeprefix("tl."))
    what = f"{function.name}: {text!r} of argument {name!r}"
    if element not in _TYPES or kind.startswith("**"):
        near = near_hint(element, sorted(_TYPES), "element types are")
        raise TargetError(f"{what} is not a type that Triton knows", path=_path(function), hint=near)
    if pointer:
        return _pointer(what, element, hints)
    if hints and (hints != ["16"] or element[0] not in "iu"):
        raise TargetError(f"{what} has an invalid hint", hint="i32:16 is an integer divisible by 16")
    if element.startswith(("fp", "bf")):
        return Typed(element, 0.5, {})
    if element == "i1":
        return Typed("u1", True, None)
    return Typed(element, 3, {"divisibility": DIVISIBILITY} if hints else {})


def _pointer(what: str, element: str, hints: Sequence[str]) -> Typed:
    unknown = set(hints) - {"16", "1", "wide"}
    if unknown:
        raise TargetError(
            f"{what} has the unknown hint {min(unknown)!r}",
            hint="16 is the default, 1 an unaligned pointer, wide a pointer to more than 2 GiB",
        )
    elements = 2**31 if "wide" in hints else 1024
    if element not in ELEMENT_TYPES:
        raise TargetError(f"{what} points to a type that tensors cannot have")
    return Typed("*" + element, Tensor(element, (elements,), aligned="1" not in hints), None)


def _complete(function: Function, args: Mapping[str, Any]) -> None:
    """Check that every argument has a type, a value or a default."""
    missing = [p for p in function.jit.params if p.name not in args and not p.has_default]
    missing_types = [p.name for p in missing if not p.is_constexpr]
    missing_values = [p.name for p in missing if p.is_constexpr]
    if missing_types:
        template = ",".join(f"{name}=..." for name in missing_types)
        raise TargetError(
            f"{function.name}: no type for {', '.join(missing_types)}",
            path=_path(function),
            place=f"line {function.line}" if function.line else None,
            hint=f'--signature "{template}" with types such as *fp16, i32, i32:16, fp32',
        )
    if missing_values:
        filled = [name for name in missing_values if name in function.heuristics]
        note = f" ({', '.join(filled)} would be set by @triton.heuristics in a launch)" if filled else ""
        raise TargetError(
            f"{function.name}: no value for the constexpr {', '.join(missing_values)}",
            path=_path(function),
            place=f"line {function.line}" if function.line else None,
            hint=" ".join(f"--constexpr {name}=..." for name in missing_values) + note,
        )


def _unknown(function: Function, name: str) -> KprofError:
    return TargetError(
        f"{function.name} has no argument {name!r}",
        path=_path(function),
        hint=near_hint(name, function.arguments, "its arguments are"),
    )


def _path(function: Function) -> str:
    return str(function.path)
