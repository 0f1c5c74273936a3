"""Record what happens in a program: kernels, launches, autotuners' configurations, reads of unknown values."""

import json
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kprof.captures import layout
from kprof.compiler import environment as switches
from kprof.output.redacting import redacted
from kprof.recording import compile_results, describe, jobs, operator_calls, program_sources
from kprof.recording.candidate_order import AutotunedConfig, rank
from kprof.recording.compiler import Compiler
from kprof.recording.files_read import Reads
from kprof.recording.generated import GeneratedLaunch
from kprof.recording.journal import CaptureJournal
from kprof.recording.language_kernels import LanguageKernel
from kprof.recording.operator_tally import OperatorTally
from kprof.recording.settings import Settings
from kprof.recording.steering import add_values
from kprof.recording.stub import RecordedKernel
from kprof.recording.ticket import Ticket

_HANDLERS = frozenset({"OutOfResources", "TritonError", "Exception"})
"""Names of exceptions with which a program handles a launch that needs too much LDS."""


_MOST_AGAIN = 16
"""Maximum number of launches of other sizes, per autotuner key, for which its configurations are launched again."""


@dataclass(eq=False)
class _Choice:
    """The configurations among which an autotuner chooses for one key and one launch.

    Attributes:
        key, about: the key, and the fields of its line in the journal.
        tuner: the autotuner, which is kept alive for its id.
        configs: configurations to launch again for a launch of another size.
        kernels: the trials, see :attr:`AutotunedConfig.kernel`.
        lines: number of the journal line with the candidates, by launch (kernel, grid, arguments); shared with the
            choices of the same key for other launches.
        first: the choice that the autotuner itself made for the key; ``None`` if this is that choice.
    """

    key: object
    about: dict[str, Any]
    tuner: Any
    configs: list[Any] = field(default_factory=list)
    kernels: list[AutotunedConfig] = field(default_factory=list)
    lines: dict[tuple[str, tuple[int, ...], int], int] = field(default_factory=dict)
    first: "_Choice | None" = None


@dataclass
class _Context:
    """State of the current thread: its running autotuner, trial and launch."""

    tuner: Any = None
    again: Callable[[Sequence[Any]], None] | None = None
    generated: GeneratedLaunch | None = None
    tuning: _Choice | None = None
    candidate: AutotunedConfig | None = None
    launches: int = 0


class Recorder:
    """The recording of one process.

    Args:
        settings: settings of the recording.
        files: files that the process reads; ``None``: only its imported modules are recorded as its sources.
    """

    def __init__(self, settings: Settings, files: Reads | None = None) -> None:
        self.settings, self.files = settings, files
        self.executes = False
        self.after_launch: list[Callable[[Any, tuple[Any, ...]], None]] = []
        self._local = threading.local()
        self._functions: dict[int, Any] = {}
        self._kernel_files: set[str] = set()
        self._needed: dict[str, int] = {}
        # Choice among an autotuner's configurations, by autotuner and key.
        self._choices: dict[tuple[int, Any], _Choice] = {}
        self._begin()

    def _begin(self) -> None:
        self.journal = CaptureJournal(Path(self.settings.folder))
        self.compiler = Compiler(self.settings)
        self.answers = OperatorTally(self._note_unrun, lambda: self._context.launches)
        self._started = False
        self._sequence = 0
        self._reads = 0
        self._defaults: dict[str, Any] = {}
        self._left_out: Counter[tuple[str, str]] = Counter()
        self.lock = threading.RLock()

    def after_fork(self) -> None:
        """Start anew in a forked copy of the process, with its own journal and without the running compiles."""
        self._begin()

    @property
    def started(self) -> bool:
        """Whether the journal's first line was written."""
        return self._started

    def start(self) -> None:
        """Write the journal's first line, unless it was written before."""
        if self._started:
            return
        self._started = True
        torch, triton = sys.modules.get("torch"), sys.modules.get("triton")
        self.journal.write(
            "process",
            {
                "pid": os.getpid(),
                "argv": [part[:1000] for part in redacted(list(map(str, sys.argv[:100])))] * self.settings.argv,
                "python": ".".join(map(str, sys.version_info[:3])),
                "torch": str(getattr(torch, "__version__", "")),
                "triton": str(getattr(triton, "__version__", "")),
                "executes": self.executes,
            },
        )

    def compile(self, source: Any, target: Any, options: Any, backend: Any) -> RecordedKernel:
        """Request the compile of a Triton source; the returned kernel can be launched at once."""
        self.start()
        function = source.fn
        set_switches = {name: value for name, value in switches.relevant({}).items() if name != "TRITON_DEBUG"}
        identifier = jobs.identifier(source, target, options, set_switches)
        job = jobs.CaptureJob(identifier, source, target, options, backend)
        given = describe.given_options(options, self.defaults_of(backend))
        request = describe.request_of(source, target.arch, given, set_switches)
        jobs.prepare()
        with self.lock:
            self._functions[id(function)] = function
            self.number(identifier, source, request)
            candidate = self._context.candidate
            ticket = self.compiler.ask(
                identifier,
                function.fn.__name__,
                lambda report: jobs.compile_source(job, report),
                later=candidate is not None,
            )
            self._check_disk()
        kernel = RecordedKernel(source, ticket, request, self.launch, self.load)
        if candidate is not None:
            candidate.kernel = kernel
        return kernel

    def number(self, identifier: str, source: Any, request: dict[str, Any]) -> int:
        """Return the number of a kernel in the journal."""
        return self.journal.number("kernel", identifier, {"id": identifier, **describe.kernel(source.fn, request)})

    def launch(self, kernel: RecordedKernel, grid: tuple[Any, ...], stream: Any, args: tuple[Any, ...]) -> None:
        """Record a launch.

        Raises:
            OutOfResources: Triton's exception, if the program handles it and the kernel needs more LDS than available.
        """
        context = self._context
        sizes = [int(n) for n in grid]
        if context.candidate is not None:
            context.candidate.kernel = kernel
            context.launches += 1
            if context.tuning is not None and 0 not in sizes:
                context.candidate.grid = sizes
                context.candidate.args = self._arguments(kernel.src, args)
            return
        if 0 in sizes:
            return
        choice = self._choice_of(kernel)
        if choice is None:
            # On a real device, an autotuner would not have chosen a kernel that cannot be launched.
            self.refuse(kernel)
        self.compiler.advance()
        self.start()
        number = self.number(kernel.hash, kernel.src, kernel.request)
        tuning = None if choice is None else self._line_of(choice, kernel, sizes, args)
        self.note_launch(number, kernel.src, sizes, stream, args, tuning=tuning)
        for action in self.after_launch:
            action(kernel.src.fn, args)

    def launch_compiled(
        self, kernel: LanguageKernel, grid: list[int], stream: int, args: Mapping[str, Any], words: Mapping[str, int]
    ) -> None:
        """Record a launch of a kernel that another language than Triton has compiled.

        Args:
            kernel: the kernel.
            grid: workgroups in x, y, z.
            stream: number of the stream.
            args: arguments of the function that launches the kernel, by name.
            words: arguments that the kernel takes by value, see :func:`kprof.inputs.amdgcn.arguments.word_name`.
        """
        self.start()
        folder = Path(self.settings.folder) / layout.KERNELS / kernel.identifier
        with self.lock:
            self._kernel_files.add(kernel.path)
            number = self.journal.number("kernel", kernel.identifier, kernel.record)
            if not (folder / layout.RESULT).is_file():
                result = {"status": "ok", "seconds": kernel.seconds}
                metadata = kernel.metadata(self.settings.device.wavefront_size)
                compile_results.place_or_fail(self.journal, folder, result, metadata, {"amdgcn": kernel.assembly})
        if self._context.candidate is not None or 0 in grid:
            return
        described = {name: describe.argument(value) for name, value in args.items()} | dict(words)
        with self.lock:
            arguments = self.journal.number("args", describe.key_of(described), {"args": described})
        self._write_launch(number, arguments, grid, stream, None)
        for action in self.after_launch:
            action(None, tuple(args.values()))

    def leave_out(self, language: str, reason: str, launches: int) -> None:
        """Count launches of another language than Triton that cannot be recorded.

        Args:
            language: name of the language.
            reason: why they cannot be recorded.
            launches: number of launches to add; 0 if launches cannot be counted.
        """
        self.start()
        with self.lock:
            self._left_out[language, reason] += launches

    def _choice_of(self, kernel: RecordedKernel) -> _Choice | None:
        """Return the running autotuner's choice for its present key; ``None`` if it did not have to choose."""
        context = self._context
        if context.tuner is None:
            return None
        place = (id(context.tuner), getattr(getattr(context.tuner, "cache", None), "last", None))
        if context.tuning is not None:
            self._choices[place] = context.tuning
        choice = self._choices.get(place)
        functions = [] if choice is None else [one.kernel.src.fn for one in choice.kernels if one.kernel is not None]
        return choice if any(function is kernel.src.fn for function in functions) else None

    def _line_of(self, choice: _Choice, kernel: RecordedKernel, grid: list[int], args: tuple[Any, ...]) -> int:
        """Return the number of the journal line whose candidates have this launch's grid and arguments.

        An autotuner tries its configurations once per key, but launches with that key may have other sizes. The other
        configurations are then launched again with these sizes, up to :data:`_MOST_AGAIN` times.
        """
        launched = (kernel.hash, tuple(grid), self._arguments(kernel.src, args))
        context = self._context
        if launched not in choice.lines and context.again is not None and len(choice.lines) > 0:
            tries = len(set(choice.lines.values()))
            if tries <= _MOST_AGAIN:
                outer = context.tuning
                number = self.journal.number("tuning", choice.key, choice.about)
                about = {**choice.about, "again": number}
                context.tuning = _Choice(object(), about, choice.tuner, lines=choice.lines, first=choice)
                try:
                    context.again(choice.configs)
                finally:
                    context.tuning = outer
        known = choice.lines.get(launched)
        return self.journal.number("tuning", choice.key, choice.about) if known is None else known

    def _arguments(self, source: Any, args: tuple[Any, ...]) -> int:
        """Write a launch's arguments to the journal, unless it has them, and return their number there."""
        names = getattr(source.fn, "arg_names", None) or [p.name for p in source.fn.params]
        described = {str(name): describe.argument(value) for name, value in zip(names, args, strict=False)}
        if not self.executes:
            add_values(described, source.fn, dict(zip(map(str, names), args, strict=False)), self.settings.values)
        with self.lock:
            return self.journal.number("args", describe.key_of(described), {"args": described})

    def note_launch(
        self,
        number: int,
        source: Any,
        grid: list[int],
        stream: Any,
        args: tuple[Any, ...],
        *,
        tuning: int | None = None,
    ) -> None:
        """Write an entry for a launch to the journal."""
        self._write_launch(number, self._arguments(source, args), grid, stream, tuning)

    def _write_launch(self, number: int, arguments: int, grid: list[int], stream: Any, tuning: int | None) -> None:
        """Write an entry for a launch, given the numbers of its kernel and its arguments."""
        self._context.launches += 1
        fields: dict[str, Any] = {"kernel": number, "seq": self._sequence, "grid": grid}
        with self.lock:
            self._sequence += 1
            fields["site"] = self.site()
            fields["args"] = arguments
            if self.settings.operators:
                fields["scope"] = operator_calls.scope_number(self.journal)
            if stream:
                fields["stream"] = int(stream)
            if tuning is not None:
                fields["tuning"] = tuning
            self.journal.write("launch", fields)

    def note_operator(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
        """Write a call of one of torch's operators to the journal; skip it while an autotuner tries configurations."""
        if self.trying:
            return
        call = operator_calls.called(func, args, kwargs, out)
        self.start()
        with self.lock:
            number = self.journal.number("shapes", describe.key_of(call), call)
            fields = {"shapes": number, "scope": operator_calls.scope_number(self.journal)}
            factor = operator_calls.left_factor(call["name"], args)
            self.journal.write("call", fields if factor is None else {**fields, "factor": factor})

    def site(self) -> int:
        """Return the journal's number for the program's current source position."""
        frames = describe.site(2)
        return self.journal.number("site", frames, {"frames": [list(frame) for frame in frames]})

    def read(self, what: str) -> None:
        """Record that the program reads a value that no kernel has written."""
        with self.lock:
            self._reads += 1
            site = self.site()
            self.journal.number("read", (what, site), {"what": what, "site": site})

    def _note_unrun(self, name: str, how: str) -> int:
        """Record that an operator is answered without running; return its number."""
        self.start()
        with self.lock:
            return self.journal.number("unrun", (name, how), {"name": name, "how": how, "site": self.site()})

    def load(self, ticket: Ticket) -> tuple[dict[str, Any], dict[str, str | bytes]]:
        """Wait for the compile of a kernel, and return its metadata and stages.

        Raises:
            RuntimeError: if the compile failed.
        """
        self.compiler.wait(ticket)
        cached = compile_results.fetch(self.settings, ticket.id)
        if cached is not None:
            return cached[0]["metadata"], cached[1]
        result = compile_results.result(ticket.folder)
        if result.get("status") != "ok":
            raise RuntimeError(f"{ticket.name}: {result.get('error', 'was not compiled')}")
        stages: dict[str, str | bytes] = {}
        for stage in layout.STAGES:
            path = ticket.folder / f"kernel.{stage}"
            if path.is_file():
                stages[stage] = path.read_text(encoding="utf-8")
        return json.loads((ticket.folder / layout.METADATA).read_text(encoding="utf-8")), stages

    def usable(self, kernel: RecordedKernel | None) -> bool:
        """Return whether a device could launch the kernel: it compiles and has enough LDS. Waits for the compile."""
        lds = None if kernel is None else self._lds(kernel)
        return lds is not None and lds <= self.settings.device.lds_bytes

    def refuse(self, kernel: RecordedKernel) -> None:
        """Raise the error of a launch that needs too much LDS, if the program seems to handle it.

        If the program does not handle the error, the LDS is not checked, because that requires waiting for the
        compile. A program that would end here on a GPU then continues, and the capture says that the kernel cannot be
        launched.

        Raises:
            OutOfResources: Triton's exception.
        """
        if kernel.hash not in self._needed:
            if not describe.names_in_program(_HANDLERS):
                return
            self._needed[kernel.hash] = self._lds(kernel) or 0
        needed, limit = self._needed[kernel.hash], self.settings.device.lds_bytes
        if needed > limit and describe.names_in_program(_HANDLERS):
            from triton.runtime.errors import OutOfResources

            raise OutOfResources(needed, limit, "shared memory")

    def _lds(self, kernel: RecordedKernel) -> int | None:
        """Return the bytes of LDS per workgroup, 0 if unknown; ``None`` if the kernel does not compile."""
        self.compiler.wait(kernel.ticket)
        if compile_results.result(kernel.ticket.folder).get("status") != "ok":
            return None
        shared = compile_results.metadata(kernel.ticket.folder).get("shared")
        return shared if isinstance(shared, int) else 0

    @property
    def trying(self) -> bool:
        """Whether an autotuner tries a configuration, or the program times a call."""
        return self._context.candidate is not None

    @property
    def candidates(self) -> list[RecordedKernel]:
        """The kernels of the configurations that the running autotuner has tried so far."""
        tuning = self._context.tuning
        return [] if tuning is None else [one.kernel for one in tuning.kernels if one.kernel is not None]

    @property
    def generated(self) -> GeneratedLaunch | None:
        """The present launch if code that TorchInductor generated makes it, else ``None``."""
        return self._context.generated

    @contextmanager
    def tuning(
        self,
        tuner: Any,
        again: Callable[[Sequence[Any]], None] | None = None,
        generated: GeneratedLaunch | None = None,
    ) -> Iterator[None]:
        """Enter an autotuner's run. The configuration that it would choose on a GPU is unknown.

        Args:
            tuner: the autotuner.
            again: launches configurations, as passed to :meth:`candidate`, with the arguments of this run.
            generated: the launch, if code that TorchInductor generated makes it.
        """
        context = self._context
        outer = context.tuner, context.again, context.generated, context.tuning
        context.tuner, context.again, context.generated, context.tuning = tuner, again, generated, None
        try:
            yield
        finally:
            context.tuner, context.again, context.generated, context.tuning = outer

    @contextmanager
    def candidate(self, config: Any, tried: Any = None) -> Iterator[AutotunedConfig]:
        """Enter an autotuner's trial of a configuration.

        Args:
            config: the configuration.
            tried: object to pass to ``again`` of :meth:`tuning` to launch it again; by default the configuration.
        """
        context = self._context
        tuner, outer = context.tuner, context.candidate
        if context.tuning is None:
            self.start()
            function = getattr(tuner, "base_fn", None) or getattr(tuner, "fn", None)
            name = str(getattr(function, "__name__", "kernel"))
            fields: dict[str, Any] = {
                "name": name,
                "configs": len(getattr(tuner, "configs", None) or ()),
                "site": self.site(),
            }
            context.tuning = _Choice(object(), fields, tuner)
        choice = context.tuning
        number = self.journal.number("tuning", choice.key, choice.about)
        candidate = context.candidate = AutotunedConfig()
        try:
            yield candidate
        finally:
            context.candidate = outer
            fields = {"tuning": number, "config": str(config)[:1000]}
            if candidate.kernel is not None:
                made = candidate.kernel
                fields["kernel"] = self.number(made.hash, made.src, made.request)
                if candidate.grid is not None and candidate.args is not None:
                    fields |= {"grid": candidate.grid, "args": candidate.args}
                    choice.lines[made.hash, tuple(candidate.grid), candidate.args] = number
            choice.configs.append(config if tried is None else tried)
            choice.kernels.append(candidate)
            if candidate.error is not None:
                fields["error"] = candidate.error[:1000]
            self.journal.write("candidate", fields)
            if choice.first is None:
                rank(choice.kernels, self.settings.device.compute_units)

    @contextmanager
    def trial(self) -> Iterator[None]:
        """Enter the timing of a call. Launches inside are compiled, but not recorded as launches of the program."""
        context = self._context
        outer = context.candidate
        context.candidate = outer or AutotunedConfig()
        try:
            yield
        finally:
            context.candidate = outer

    def note(self, text: str) -> None:
        """Record a note for the reader of the capture."""
        self.start()
        self.journal.number("note", text, {"text": text[:2000]})

    def forget(self) -> None:
        """Remove recorded kernels from Triton's caches, where later launches would find them."""
        for function in self._functions.values():
            function.device_caches.clear()
        for choice in self._choices.values():
            if isinstance(getattr(choice.tuner, "cache", None), dict):
                choice.tuner.cache.clear()

    def finish(self, how: str = "exit") -> None:
        """Wait for the compiles, or kill them if ``how`` is ``interrupted``; then close the journal."""
        if (totals := self.answers.totals()) is not None:
            self.start()
        if self._started:
            if how == "exit":
                self.compiler.finish(_tell, self.settings.candidate_seconds)
            else:
                self.compiler.abandon()
            self._check_disk()
            if self.settings.root:
                own = [place for place in (self.settings.folder, self.settings.cache) if place]
                kernels = [function.fn.__code__.co_filename for function in self._functions.values()]
                kernels += sorted(filter(None, self._kernel_files))
                root = Path(self.settings.root)
                self.journal.write("sources", program_sources.of_process(root, self.files, own, kernels))
                if self.files is not None and self.files.full:
                    self.journal.write("note", {"text": "more than 10,000 files were opened: not all are compared"})
            if totals is not None:
                self.journal.write("operators", totals)
            for (language, reason), launches in self._left_out.items():
                self.journal.write("left out", {"language": language, "launches": launches, "reason": reason[:2000]})
            self.journal.write("end", {"how": how, "reads": self._reads})
            self.journal.close()
            self._started = False

    @property
    def _context(self) -> _Context:
        context = getattr(self._local, "context", None)
        if context is None:
            context = self._local.context = _Context()
        return context

    def defaults_of(self, backend: Any) -> Any:
        """Return the default options of a backend."""
        name = type(backend).__name__
        if name not in self._defaults:
            from kprof.compiler import versions

            with versions.quiet([]):
                self._defaults[name] = backend.parse_options({})
        return self._defaults[name]

    def _check_disk(self) -> None:
        if self.compiler.disk_error is not None:
            self.journal.fail(self.compiler.disk_error)


def _tell(done: int, everything: int) -> None:
    print(f"kprof capture: {done:,} of {everything:,} kernels compiled; Ctrl-C keeps these", file=sys.stderr)
