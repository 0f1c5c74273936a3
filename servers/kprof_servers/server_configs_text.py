"""The tuned files that a server looks for as terminal text, each with its replacement if it is missing."""

import textwrap

from kprof.output.assignments import assigned
from kprof.output.colour import painted
from kprof.output.quantities import duration
from kprof.output.sink import one_line
from kprof_servers.served.document import NeededFile, RankedBatch, ServerConfigs

_COLOUR = {"exact": "32", "fallback": "33", "default": "1;31", "none": "1;31", "unknown": "36"}
_WORDS = {
    "exact": "there",
    "fallback": "replaced",
    "default": "missing",
    "none": "missing",
    "unknown": "needed",
}
_SERVERS = {"vllm": "vLLM", "sglang": "SGLang", "aiter": "AITER"}
_INDENT = " " * 12


class ServerConfigsTextReporter:
    """Writes plain lines, coloured on demand. File names are never cut, so that they can be copied.

    Args:
        width: columns of the terminal; 100 if there is no terminal.
        colour: whether statuses are coloured.
        verbose: 1 also shows the configuration of each batch, and lint findings of existing files.
    """

    def __init__(self, width: int | None = None, *, colour: bool = False, verbose: int = 0) -> None:
        self._width = max(60, min(width or 100, 120))
        self._colour = colour
        self._verbose = verbose

    def render(self, found: ServerConfigs) -> str:
        """Return the whole text; its last line is the verdict."""
        split = f"tp {found.tp}" + (f", ep {found.ep}" if found.ep > 1 else "")
        lines = [
            one_line(f"{found.architecture}, {found.weights}, {split}, on {found.gpu}"),
            one_line(f"{_SERVERS[found.server]} {found.version}, which calls the GPU {found.device}"),
            "",
        ]
        for file in found.needed:
            lines += [*self._file(file), ""]
        lines += [*self._steps(found), ""] if found.steps else []
        for problem in found.problems:
            lines += self._wrapped("Problem: ", problem + ".")
        for note in found.notes:
            lines += self._wrapped("Note: ", note + ".")
        if found.problems or found.notes:
            lines.append("")
        return "\n".join(lines) + f"\n{self.verdict(found)}"

    def verdict(self, found: ServerConfigs) -> str:
        """Return the last line alone."""
        status = {"ok": "exact", "missing": "default", "cannot_tell": "unknown"}[found.verdict.status]
        return self._painted(status, found.verdict.summary) + "\n"

    def _file(self, file: NeededFile) -> list[str]:
        layers = "" if file.layers is None else f", {file.layers} {'layer' if file.layers == 1 else 'layers'}"
        where = f"{file.kernel}: {file.layer}{layers}"
        lines = [f"  {self._painted(file.status, f'{_WORDS[file.status]:8}')}  {one_line(where)}"]
        table = file.name.endswith(".csv")
        sizes = assigned(file.shape, ", ")
        lines.append(f"{_INDENT}{one_line(file.name)}{f', lines of {sizes}' if table else ''}")
        if file.alternative:
            lines.append(f"{_INDENT}another family for the same weights; the caller chooses, so it is in no sum")
        if file.status == "exact":
            lines.append(f"{_INDENT}in {one_line(file.opened if table else file.folder)}")
        elif file.status == "fallback" and table:
            lines.append(f"{_INDENT}for some rows: {one_line(file.opened)}")
        elif file.status == "fallback":
            lines.append(f"{_INDENT}instead: {one_line(file.opened)}")
        elif file.status == "default":
            lines.append(f"{_INDENT}instead: the default for every shape; it belongs in {one_line(file.folder)}")
        elif file.status == "none":
            lines.append(f"{_INDENT}instead: nothing, the kernel is not launched")
        lines += [f"{_INDENT}not looked up, named for another device: {one_line(other)}" for other in file.others]
        for note in file.notes:
            lines += self._wrapped(_INDENT, note)
        lines += self._ranked(file)
        if file.lint and not self._verbose:
            count = "1 finding" if len(file.lint) == 1 else f"{len(file.lint)} findings"
            lines.append(f"{_INDENT}kprof lint: {count}, shown with -v")
        if self._verbose:
            lines += self._details(file)
        return lines

    def _ranked(self, file: NeededFile) -> list[str]:
        """Return lines with the predicted times of each batch size: current configuration and proposal."""
        if file.unranked:
            return self._wrapped(_INDENT, f"not predicted: {file.unranked}")
        if not file.ranked:
            return []
        lines = [f"{_INDENT}{'rows':>6}  {'runs':>9}  {'proposal':>9}"]
        for batch in file.ranked:
            runs = "-" if batch.runs is None else duration(batch.time_us(batch.runs))
            best = "-" if batch.best is None else duration(batch.time_us(batch.best))
            said = _gain(batch, has_file=file.status == "exact")
            lines.append(f"{_INDENT}{batch.rows:>6,}  {runs:>9}  {best:>9}  {said}".rstrip())
            if batch.best is not None and self._verbose:
                config = assigned(batch.best.config, ", ")
                lines += self._wrapped(_INDENT + "        ", config)
        if file.status == "exact" and not self._verbose:
            return lines
        return [*lines, *self._wrapped(_INDENT, f"proposals are based on {file.basis}")]

    def _steps(self, found: ServerConfigs) -> list[str]:
        """Return lines with the predicted time of all files' kernels in a step."""
        files = _without_own(found)
        lines = []
        by = f"measured on {found.measured_on} where it could be" if found.measured_on else "by the model"
        for step in found.steps:
            lost = step.runs_us - step.best_us
            said = f"loses {duration(lost)} of {duration(step.runs_us)} in the kernels of {step.files} files"
            if lost <= 0:
                said = f"{duration(step.runs_us)} in the kernels of {step.files} files; no gain is known"
            tail = f"; {files}" if lost > 0 and files else ""
            lines.append(f"  A step of {step.rows:,} rows: {said}, {by}{tail}")
        return lines

    def _details(self, file: NeededFile) -> list[str]:
        lines = []
        for finding in file.lint:
            lines += self._wrapped(_INDENT, finding)
        for batch in file.batches:
            bucket = "" if batch.bucket is None else f" by the bucket {batch.bucket:,}"
            config = assigned(batch.config or {}, ", ")
            if bucket or config:
                lines += self._wrapped(_INDENT, f"{batch.rows:,} rows{bucket}{': ' if config else ''}{config}")
        return lines

    def _wrapped(self, first: str, text: str) -> list[str]:
        rest = _INDENT if first == _INDENT else "  "
        return textwrap.wrap(
            one_line(text), self._width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
        )

    def _painted(self, status: str, text: str) -> str:
        return painted(text, _COLOUR[status], colour=self._colour)


def _without_own(found: ServerConfigs) -> str:
    """Describe how many of the files in a step's sum are missing, and for how many the server uses another file."""
    ranked = [file.status for file in found.needed if file.ranked]
    counts = {"missing": sum(s in {"default", "none"} for s in ranked), "replaced": ranked.count("fallback")}
    said = [f"{count} {word} {'file' if count == 1 else 'files'}" for word, count in counts.items() if count]
    return ", ".join(said)


def _gain(batch: RankedBatch, *, has_file: bool) -> str:
    if batch.best is None or batch.runs is None:
        return batch.reason
    spills = f", {batch.runs.vgpr_spills} VGPRs spilled now" if batch.runs.vgpr_spills else ""
    measured = ", measured" if batch.measured and batch.best.measured_us is not None else ""
    if batch.tie:
        return f"as fast, {'measured' if measured else 'as far as the model can tell'}{spills}"
    if batch.slower:
        return f"predicted slower: {'keep what runs' if has_file else 'measure both'}{spills}"
    return f"{batch.time_us(batch.runs) / batch.time_us(batch.best):.2f}x{spills}{measured}"
