"""A Model Context Protocol server on standard input and output that offers kprof's queries as tools.

It needs the official SDK, kprof's extra ``mcp``.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from kprof.api.live import answers
from kprof.api.live.reach import Reach
from kprof.api.live.session import Session
from kprof.errors import KprofError
from kprof.options.groups import GpuOptions
from kprof.options.kernels import AnalyzeOptions, OccupancyOptions
from kprof.options.option import Declared, Options, declared
from kprof.options.programs import CaptureOptions
from kprof.options.searches import AdviseOptions, TuneOptions
from kprof.output.assignments import assigned
from kprof.output.quantities import duration
from kprof.reporters._kernel_words import better
from kprof.reporters.answer import costing, sentences
from kprof.version import __version__

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from mcp.server.mcpserver import Context
    from mcp_types import InputRequiredResult, Tool

MOST = 8
"""Maximum number of causes, changes or configurations in the text of an answer; its structured content has all."""

INSTRUCTIONS = """\
kprof compiles Triton kernels for AMD GPUs without a GPU and says what the compiled code will do. Registers, spills,
LDS, occupancy and instructions are exact, from the compiled program. Times are modelled, with a range. Only a
measurement can rank configurations whose ranges overlap much or that are marked as ties. Start with analyze; advise
compiles better knobs and says what to verify in the compiled code (fewer spills, more wavefronts) before benchmarking.
"""

TARGET = (
    "A bundled kernel's name (see kernels), an .amdgcn or .hsaco file, a folder that capture wrote (FOLDER::NAME is "
    "one of its kernels), or, with --allow-run, FILE.py or FILE.py::FUNCTION."
)
COMPILING = ("arch", "config", "shape", "case", "signature", "constexpr", "grid")

Answer = TypeVar("Answer")


ToolFunction = TypeVar("ToolFunction", bound=Callable[..., Any])

LONGEST = 600
"""Maximum search time of a tool in seconds, because an agent waits for the result."""


def takes(group: type[Options], *names: str, **own: str) -> Callable[[ToolFunction], ToolFunction]:
    """Return a decorator that adds input fields to a tool: options of a group, and required text fields.

    Args:
        group: the group that declares the options.
        names: names of the options to add.
        own: names of required text fields, each with its description.
    """
    known = {each.name: each for each in declared(group)}

    def decorate(tool: ToolFunction) -> ToolFunction:
        signature = inspect.signature(tool)
        kept = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        fields = [_field(name, Annotated[str, Field(description=text)], inspect.Parameter.empty)
                  for name, text in own.items()]  # fmt: skip
        fields += [_option_field(known[name]) for name in names]
        vars(tool)["__signature__"] = signature.replace(parameters=[*kept, *fields])
        return tool

    return decorate


def _option_field(each: Declared) -> inspect.Parameter:
    kind, default = (each.type, each.default) if each.option.kind is None else (each.option.kind.json | None, None)
    most = each.option.most or (LONGEST if each.option.metavar == "SECONDS" else None)
    text = Field(description=each.option.text, ge=each.option.least, le=most)
    return _field(each.name, Annotated[kind, text], default)


def _field(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


class Tools:
    """Tools that the server offers; each tool sends a query to the session.

    Args:
        session: session that answers the queries.
        reach: the files that may be read, and whether code may be run.
    """

    def __init__(self, session: Session, reach: Reach) -> None:
        self._session, self._reach = session, reach

    async def _ask(self, kind: type[Answer], question: str, **arguments: Any) -> CallToolResult:
        """Answer a query: validate the answer and return it as structured content with a short text.

        Raises:
            ToolError: the query fails.
        """
        try:
            if isinstance(arguments.get("target"), str):
                arguments["target"] = self._reach.target(arguments["target"])
            given = {name: value for name, value in arguments.items() if value is not None}
            # If the client cancels, the query is cancelled and its process is killed.
            reply = await asyncio.wrap_future(self._session.submit(question, **given))
        except KprofError as error:
            raise ToolError(str(error)) from error
        answer = msgspec.convert(reply, kind)
        return CallToolResult(content=[TextContent(type="text", text=text(answer))], structured_content=reply)

    @takes(AnalyzeOptions, *COMPILING, target=TARGET)
    async def analyze(self, **arguments: Any) -> Annotated[CallToolResult, answers.Analyzed]:
        """Registers, spills, LDS, occupancy, findings and the predicted time of a kernel, with no GPU."""
        return await self._ask(answers.Analyzed, "analyze", **arguments)

    @takes(AnalyzeOptions, "arch", "shape", "case", target=TARGET)
    async def compare(
        self,
        *,
        old: Annotated[dict[str, Any], Field(description='Options of analyze: {"config": {"BLOCK_M": 128}}.')],
        new: Annotated[dict[str, Any], Field(description="Options of the other side; {} is the unchanged kernel.")],
        **arguments: Any,
    ) -> Annotated[CallToolResult, answers.Compared]:
        """Compare the compiled code of two configurations, GPUs or shapes of a kernel."""
        for side in (old, new):
            if unknown := side.keys() - set(COMPILING):
                raise ToolError(f"compare does not take {', '.join(sorted(unknown))}; it takes {', '.join(COMPILING)}")
        return await self._ask(answers.Compared, "compare", old=old, new=new, **arguments)

    @takes(AdviseOptions, "arch", "config", "shape", "case", "budget", target=TARGET)
    async def advise(self, **arguments: Any) -> Annotated[CallToolResult, answers.AdviceAnswer]:
        """Compile a kernel with other knobs, and list those that are predicted to be faster and what they change."""
        run = None if self._reach.run else False
        return await self._ask(answers.AdviceAnswer, "advise", run=run, **arguments)

    @takes(TuneOptions, "arch", "config", "shape", "case", "budget", "short_list", target=TARGET)
    async def rank(self, **arguments: Any) -> Annotated[CallToolResult, answers.Ranking]:
        """Rank the configurations of a kernel's search space by predicted time."""
        run = None if self._reach.run else False
        return await self._ask(answers.Ranking, "rank", run=run, **arguments)

    @takes(OccupancyOptions, "arch", "vgpr", "agpr", "sgpr", "lds", "num_warps")
    async def occupancy(
        self,
        *,
        target: Annotated[str | None, Field(description="A kernel; without a kernel, give the numbers.")] = None,
        **arguments: Any,
    ) -> Annotated[CallToolResult, answers.Occupied]:
        """Wavefronts per SIMD, the limiting resource, and what to reduce for more wavefronts."""
        return await self._ask(answers.Occupied, "occupancy", target=target, **arguments)

    async def explain_rule(
        self, rule: Annotated[str, Field(description="Identifier or name of a rule, as in findings.")]
    ) -> Annotated[CallToolResult, answers.RuleText]:
        """Explain a rule: what it detects, why it matters and what to try."""
        return await self._ask(answers.RuleText, "explain_rule", rule=rule)

    @takes(GpuOptions, "arch")
    async def kernels(self, **arguments: Any) -> Annotated[CallToolResult, answers.KernelList]:
        """The bundled kernels, with their cases and knobs."""
        return await self._ask(answers.KernelList, "kernels", **arguments)

    @takes(CaptureOptions, "arch")
    async def capture(
        self,
        *,
        program: Annotated[list[str], Field(description='A command: ["python", "train.py"].')],
        output: Annotated[str, Field(description="A new folder for the capture.")],
        **arguments: Any,
    ) -> Annotated[CallToolResult, answers.Captured]:
        """Run a program on a simulated GPU and record the Triton kernels that it launches; needs --allow-run."""
        if not self._reach.run:
            raise ToolError("this server runs no programs: start it with --allow-run")
        try:
            place = self._reach.path(output)
        except KprofError as error:
            raise ToolError(str(error)) from error
        return await self._ask(answers.Captured, "capture", program=program, output=str(place), **arguments)


NAMES = ("analyze", "compare", "advise", "rank", "occupancy", "explain_rule", "kernels", "capture")


class StrictServer(MCPServer[Any]):
    """A server that rejects unknown arguments of a tool; the SDK's own server ignores them silently."""

    async def list_tools(self) -> "list[Tool]":
        """Return all tools, with schemas that forbid additional arguments."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
        return tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: "Context[Any, Any] | None" = None
    ) -> "CallToolResult | InputRequiredResult":
        """Call a tool.

        Raises:
            ToolError: an argument is unknown, or the tool fails.
        """
        if name in NAMES:
            known = [*inspect.signature(getattr(Tools, name)).parameters][1:]
            if unknown := sorted(arguments.keys() - set(known)):
                raise ToolError(f"{name} does not take {', '.join(unknown)}; it takes {', '.join(known)}")
        return await super().call_tool(name, arguments, context)


def server(session: Session, reach: Reach) -> StrictServer:
    """Create the server with all tools."""
    made = StrictServer("kprof", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    tools = Tools(session, reach)
    for name in NAMES:
        tool: Callable[..., Awaitable[Any]] = getattr(tools, name)
        hints = ToolAnnotations(
            read_only_hint=name != "capture", idempotent_hint=name != "capture", open_world_hint=False
        )
        made.add_tool(tool, name=name, annotations=hints)
    return made


def serve(session: Session, reach: Reach) -> None:
    """Serve on standard input and output until the client disconnects."""
    server(session, reach).run("stdio")


def text(answer: Any) -> str:
    """Return an answer as a few lines of text."""
    match answer:
        case answers.Analyzed():
            lines: Iterable[str] = _analyzed(answer)
        case answers.AdviceAnswer():
            lines = _advice(answer)
        case answers.Ranking():
            lines = _ranking(answer)
        case answers.Compared():
            lines = _compared(answer)
        case answers.Occupied() | answers.Captured():
            lines = [answer.summary]
        case answers.RuleText():
            lines = [f"{answer.rule} {answer.name} ({answer.severity})", answer.text]
        case answers.KernelList():
            lines = [f"{one['name']}: cases {', '.join(map(str, one.get('cases', ())))}" for one in answer.kernels]
        case _:
            raise TypeError(type(answer).__name__)
    return "\n".join(lines)


def _time(time: answers.Time | None) -> str:
    if time is None:
        return "no time can be predicted"
    likely = f"likely {duration(time.low_us)} to {duration(time.high_us)}"
    bound = f", bound by {time.bound}" if time.bound else ""
    return f"{duration(time.us)} ({likely}{bound}; {time.certainty})"


def _analyzed(answer: answers.Analyzed) -> Iterator[str]:
    yield answer.summary
    for kernel in answer.kernels:
        gpu = kernel.product or kernel.arch
        yield f"{kernel.name} on {gpu}, Triton {kernel.triton or 'unknown'}: {_time(kernel.time)}"
        known = {
            "VGPRs": kernel.vgprs, "AGPRs": kernel.agprs, "spilled": kernel.vgpr_spills, "B of LDS": kernel.lds_bytes,
            "waves per SIMD": kernel.waves_per_simd,
        }  # fmt: skip
        if kernel.better is not None:
            yield f"  {better(kernel.better)}"
        yield "  " + ", ".join(f"{value:g} {name}" for name, value in known.items() if value is not None)
        yield from (f"  {line}" for line in _causes(kernel.causes))
        if kernel.not_checked:
            yield f"  not checked: {', '.join(kernel.not_checked)}"


def _causes(causes: list[answers.CauseAnswer]) -> Iterator[str]:
    for told in causes[:MOST]:
        where = f" at {told.where}" if told.where else ""
        todo = sentences(told.todo)
        yield f"{told.rule} {told.severity}{where}: {costing(told.message, told.cost)}.{f' {todo}' if todo else ''}"
    if len(causes) > MOST:
        yield f"and {len(causes) - MOST} more causes"


def _advice(answer: answers.AdviceAnswer) -> Iterator[str]:
    yield f"{answer.kernel} on {answer.arch}: {answer.summary}"
    yield f"unchanged: {_time(answer.start)}"
    for one in answer.suggestions[:MOST]:
        change = assigned(one.change)
        yield f"{change}: {_time(one.time)}; verify: {', '.join(one.must_see) or 'nothing changes but the time'}"
    yield f"{answer.tried} configurations compiled, {answer.left} left"


def _ranking(answer: answers.Ranking) -> Iterator[str]:
    yield answer.summary
    for one in answer.configs[:MOST]:
        config = assigned(one.config)
        yield f"{one.rank}. {config}: {_time(one.time)}{', as good as the first' if one.tie else ''}"


def _compared(answer: answers.Compared) -> Iterator[str]:
    yield answer.summary
    yield f"old: {_time(answer.old_time)}"
    yield f"new: {_time(answer.new_time)}"
    for change in answer.changes[:MOST]:
        where = f" at {change.where}" if change.where else ""
        note = f", {change.note}" if change.note else ""
        yield f"{change.effect}: {change.text} {change.old} to {change.new}{note}{where}"
    if len(answer.changes) > MOST:
        yield f"and {len(answer.changes) - MOST} more changes"
