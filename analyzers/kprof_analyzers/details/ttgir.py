"""The TTGIR as lines, each with the source line that it comes from."""

from collections.abc import Sequence

from kprof.details import IrLine, SourceFile
from kprof.inputs.mlir.model import Module
from kprof.inputs.mlir.text import without_location
from kprof_analyzers.source_lines import location_of


def ttgir_lines(text: str, module: Module, files: Sequence[SourceFile]) -> list[IrLine]:
    """The lines of a module's text but those that only name positions.

    Args:
        text: of the module.
        module: the same, read.
        files: the source files that lines may come from.
    """
    order = {file.path: number for number, file in enumerate(files)}
    places: dict[int, tuple[int, int]] = {}
    for operation in module.operations:
        place = location_of(operation)[0]
        if place is not None and place.file in order:
            places.setdefault(operation.line, (order[place.file], place.line))
    return [
        IrLine(number, without_location(line), places.get(number))
        for number, line in enumerate(text.split("\n"), 1)
        if line.strip() and not line.startswith("#loc")
    ]
