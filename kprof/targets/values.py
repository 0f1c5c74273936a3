"""Values that the user supplies because a launch does not determine them: of arguments, and of tensor elements."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from kprof.analysis import Endless
from kprof.errors import TargetError, near_hint
from kprof.inputs.amdgcn.arguments import kernel_arguments
from kprof.targets.loaded import LoadedKernel

Value = int | Sequence[int]
"""An integer is the value of an argument or of all elements of a tensor; a sequence lists elements in memory order."""

_ARGUMENT = re.compile(r"%([\w$.-]+): (!tt\.ptr)?")


def supplied(kernels: Iterable[LoadedKernel], values: Mapping[str, Value], what: str) -> Iterator[LoadedKernel]:
    """Yield the kernels, each with the supplied values of its own arguments.

    Args:
        kernels: kernels of one target.
        values: values by argument name.
        what: the target, for messages.

    Raises:
        TargetError: if no kernel has such an argument, the argument is known to have another value, or several numbers
            are given for an argument that is not a tensor.
    """
    left = dict.fromkeys(values)
    known: dict[str, None] = {}
    for kernel in kernels:
        arguments = arguments_of(kernel) if values else {}
        known |= dict.fromkeys(arguments)
        mine = {name: value for name, value in values.items() if name in arguments}
        left = {name: None for name in left if name not in mine}
        yield _with(kernel, mine, arguments) if mine else kernel
    for name in left:
        hint = (
            near_hint(name, known, "there are")
            if known
            else "It has neither a TTGIR nor metadata that lists its arguments."
        )
        raise TargetError(f"--value: {what} has no run-time argument {name!r}", hint=hint)


def arguments_of(kernel: LoadedKernel) -> dict[str, bool]:
    """Return a kernel's run-time arguments in order, and whether each is a pointer.

    The names are those of the TTGIR, else of the compiled kernel's metadata: HIP's names, or ``arg0``, ``arg1``, ....
    """
    if kernel.ttgir is None:
        listed = kernel_arguments(kernel.program.metadata)
        return {argument.name: argument.is_pointer for argument in listed if not argument.is_hidden}
    function = next(iter(kernel.ttgir.functions), None)
    text = function.text.partition(" attributes ")[0] if function is not None else ""
    return {name: bool(pointer) for name, pointer in _ARGUMENT.findall(text)}


def _with(kernel: LoadedKernel, values: Mapping[str, Value], arguments: Mapping[str, bool]) -> LoadedKernel:
    numbers, contents = dict(kernel.arguments), dict(kernel.contents)
    for name, value in values.items():
        if arguments[name] and kernel.ttgir is None:
            raise TargetError(
                f"--value: {name} of {kernel.name} is a pointer",
                hint="Values in memory are used with a TTGIR only; numbers that are passed are used in any kernel.",
            )
        if arguments[name]:
            contents[name] = Endless(value) if isinstance(value, int) else tuple(value)
            continue
        if not isinstance(value, int):
            raise TargetError(f"--value: {name} of {kernel.name} is a single number, not a tensor")
        if numbers.get(name, value) != value:
            raise TargetError(
                f"--value: {name} of {kernel.name} is known to be {numbers[name]}",
                hint="--value supplies what is not known. Sizes of a problem are set with --shape.",
            )
        numbers[name] = value
    return replace(kernel, arguments=numbers, contents=contents)
