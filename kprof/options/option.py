"""Declaration of options: a field of a group, whose type is annotated with an :class:`Option`."""

import functools
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, Union, get_args, get_origin

from kprof.errors import KprofError

__all__ = ["Declared", "Kind", "Option", "Options", "declared", "group", "is_group"]

Group = TypeVar("Group", bound="Options")


@dataclass(frozen=True)
class Kind:
    """Syntax of an option's value that is not plain text, a number or a switch.

    Attributes:
        accepts: the type that Python callers may pass, as shown in a signature.
        read: function that converts a given value; its second argument is the flag, for messages. Reading an already
            converted value returns it unchanged.
        json: the type in JSON documents and in the tools of agents.
        several: whether the option may be repeated on the command line.
    """

    accepts: str
    read: Callable[[Any, str], Any]
    json: Any
    several: bool = True


@dataclass(frozen=True)
class Option:
    """Properties of an option in addition to its name, type and default.

    Attributes:
        text: description in one sentence, for Python, the command line and agents.
        short: one-letter flag: ``-a``.
        metavar: placeholder of the value in ``--help``.
        kind: syntax of the value; ``None`` for plain values.
        least: smallest allowed number.
        most: largest allowed number.
        choices: allowed words.
        completes: values that a shell offers: ``targets``, ``architectures``, ``cases`` or ``rules``.
        counted: whether the value is the number of times that the flag is given: ``-vv``.
        flag: flag on the command line if it differs from the name, for example because ``try`` is a Python keyword.
    """

    text: str
    short: str = ""
    metavar: str | None = None
    kind: Kind | None = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    completes: str = ""
    counted: bool = False
    flag: str = ""


@dataclass(frozen=True)
class Declared:
    """An option as a group declares it: a field with an annotated :class:`Option`.

    Attributes:
        name: name of the field and of the keyword argument.
        type: type of the value.
        default: value if the option is not given.
        option: the option's other properties.
    """

    name: str
    type: Any
    default: Any
    option: Option

    @property
    def flag(self) -> str:
        """Flag on the command line."""
        return self.option.flag or "--" + self.name.replace("_", "-")

    @property
    def accepts(self) -> str:
        """The type that Python callers may pass, as shown in a signature."""
        return self.option.kind.accepts if self.option.kind is not None else _type_text(self.type)

    def value(self, given: Any) -> Any:
        """Convert and check a given value.

        Raises:
            KprofError: the value is invalid for the option.
        """
        option = self.option
        if option.kind is not None:
            return option.kind.read(given, self.flag)
        if option.choices and given is not None and given not in option.choices:
            raise KprofError(f"{self.flag} takes {_either(option.choices)}, got {given!r}")
        if given is not None and (option.least is not None or option.most is not None):
            if isinstance(given, bool) or not isinstance(given, int | float):
                raise KprofError(f"{self.flag} takes a number, got {given!r}")
            # The comparison is negated so that NaN is rejected: NaN is neither below nor above a limit.
            if not ((option.least is None or given >= option.least) and (option.most is None or given <= option.most)):
                most = "" if option.most is None else f" and at most {option.most:g}"
                raise KprofError(f"{self.flag} is {given:g}: it must be at least {option.least or 0:g}{most}")
        return given


if TYPE_CHECKING:
    from dataclasses import dataclass as group
else:

    def group(**_how: Any) -> Any:
        """Make a class a group of options: a frozen dataclass that inherits its methods from :class:`Options`.

        The methods are inherited because generating them for some fifty classes would take longer than a short command.
        """
        return functools.partial(dataclass, init=False, repr=False, eq=False, kw_only=True)


@group(frozen=True, kw_only=True)
class Options:
    """Options of a command or a function; values are converted and checked on creation.

    Attributes:
        without: inherited options that this class does not offer; they keep their defaults.
    """

    without: ClassVar[frozenset[str]] = frozenset()

    if not TYPE_CHECKING:

        def __init__(self, **given: Any) -> None:
            for field in fields(self):
                default = field.default_factory() if field.default_factory is not MISSING else field.default
                object.__setattr__(self, field.name, given.pop(field.name, default))
            if given:
                raise TypeError(f"{type(self).__name__} has no option {', '.join(sorted(given))}")
            for each in _declared_options(type(self)):
                object.__setattr__(self, each.name, each.value(getattr(self, each.name)))

        def __setattr__(self, name: str, _value: object) -> None:
            raise FrozenInstanceError(f"{name} cannot be changed")

        def __eq__(self, other: object) -> bool:
            return type(self) is type(other) and vars(self) == vars(other)

        __hash__ = None

        def __repr__(self) -> str:
            return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"

    def part(self, group: type[Group]) -> Group:
        """Return an instance of an inherited group with this object's values."""
        return group(**{field.name: getattr(self, field.name) for field in fields(group) if field.init})

    def given(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        found = {each.name: (getattr(self, each.name), each.default) for each in declared(type(self))}
        return {name: value for name, (value, default) in found.items() if value != default}


def is_group(annotation: Any) -> bool:
    """Return whether a parameter's annotation is a group of options."""
    return isinstance(annotation, type) and issubclass(annotation, Options)


def declared(group: Any) -> tuple[Declared, ...]:
    """Return the options that a group offers: inherited ones in the order of the base classes, then the group's own."""
    return tuple(each for each in _declared_options(group) if each.name not in group.without)


@functools.cache
def _declared_options(group: Any) -> tuple[Declared, ...]:
    known = {field.name: field for field in fields(group)}
    names = dict.fromkeys(name for base in _in_order(group) for name in vars(base).get("__annotations__", ()))
    found = [_declared(known[name]) for name in names if name in known]
    return tuple(each for each in found if each is not None)


def _in_order(group: type) -> list[type]:
    inherited = [one for base in group.__bases__ if issubclass(base, Options) for one in _in_order(base)]
    return [*inherited, group]


def _declared(field: "Field[Any]") -> Declared | None:
    kind, *beside = get_args(field.type) if get_origin(field.type) is not None else (field.type,)
    option = next((one for one in beside if isinstance(one, Option)), None)
    if option is None:
        return None
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return Declared(field.name, kind, default, option)


def _type_text(kind: Any) -> str:
    if get_origin(kind) in {Union, types.UnionType}:
        return " | ".join(map(_type_text, get_args(kind)))
    return "None" if kind is types.NoneType else kind.__name__ if isinstance(kind, type) else str(kind)


def _either(choices: tuple[str, ...]) -> str:
    return " or ".join(filter(None, (", ".join(choices[:-1]), choices[-1])))
