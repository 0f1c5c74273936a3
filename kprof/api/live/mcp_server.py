"""The Model Context Protocol server: kprof's questions as tools, on standard input and output.

It needs the official SDK, ``pip install kprof[mcp]``.
"""

import asyncio
import inspect
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import msgspec
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from kprof.api.live import answers
from kprof.api.live.reach import Reach
from kprof.api.live.session import Session
from kprof.api.live.words import text
from kprof.errors import KprofError
from kprof.hardware.default import DEFAULT_GPU
from kprof.version import __version__

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp.server.mcpserver import Context
    from mcp_types import InputRequiredResult, Tool

INSTRUCTIONS = """\
kprof compiles Triton kernels for AMD GPUs without a GPU and says what the compiled code will do. Registers, spills,
LDS, occupancy and instructions are exact, from the compiled program. Times are modelled, with a range; configurations
whose ranges overlap much, or that are marked as ties, can only be told apart by measuring. Start with analyze; advise
compiles better knobs and says what must be seen in the code (fewer spills, more wavefronts) before it is benchmarked.
"""

Target = Annotated[
    str,
    Field(
        description="A bundled kernel's name (see kernels), an .amdgcn or .hsaco file, a folder that capture wrote "
        "(with ::NAME one kernel of it), or, with --allow-run, FILE.py or FILE.py::FUNCTION."
    ),
]
Arch = Annotated[str, Field(description="A product or architecture: MI300X, MI355X, gfx942.")]
Config = Annotated[
    dict[str, int | bool | str] | None, Field(description='Knobs: {"BLOCK_M": 64, "num_warps": 4, "waves_per_eu": 2}.')
]
Shape = Annotated[dict[str, int | str] | None, Field(description='Sizes of the problem: {"M": 4096}.')]
Case = Annotated[str | None, Field(description="One of a bundled kernel's named shapes.")]
Signature = Annotated[str | None, Field(description="Argument types of FILE.py::FUNCTION: *fp16,*fp16,i32.")]
Seconds = Annotated[float, Field(description="Seconds after which no compile is begun.", gt=0, le=600)]

Answer = TypeVar("Answer")


class Tools:
    """The tools, each a question to the session.

    Args:
        session: answers the questions.
        reach: what may be read and run.
    """

    def __init__(self, session: Session, reach: Reach) -> None:
        self._session, self._reach = session, reach

    async def _ask(self, kind: type[Answer], question: str, **arguments: Any) -> CallToolResult:
        """The answer, checked, as the structured result with a short text beside it."""
        try:
            if isinstance(arguments.get("target"), str):
                arguments["target"] = self._reach.target(arguments["target"])
            given = {name: value for name, value in arguments.items() if value is not None}
            # Cancelled by the client, the question is given up and its process ended.
            reply = await asyncio.wrap_future(self._session.submit(question, **given))
        except KprofError as error:
            raise ToolError(str(error)) from error
        answer = msgspec.convert(reply, kind)
        return CallToolResult(content=[TextContent(type="text", text=text(answer))], structured_content=reply)

    async def analyze(
        self,
        *,
        target: Target,
        arch: Arch = DEFAULT_GPU,
        config: Config = None,
        shape: Shape = None,
        case: Case = None,
        signature: Signature = None,
        constexprs: Config = None,
        grid: Annotated[list[int] | None, Field(description="Workgroups of the launch of FILE.py::FUNCTION.")] = None,
    ) -> Annotated[CallToolResult, answers.Analyzed]:
        """Registers, spills, LDS, occupancy, findings and the modelled time of a kernel, with no GPU."""
        return await self._ask(
            answers.Analyzed, "analyze", target=target, arch=arch, config=config, shape=shape, case=case,
            signature=signature, constexprs=constexprs, grid=grid,
        )  # fmt: skip

    async def compare(
        self,
        *,
        target: Target,
        old: Annotated[dict[str, Any], Field(description='Options of analyze: {"config": {"BLOCK_M": 128}}.')],
        new: Annotated[dict[str, Any], Field(description="The same for the other side; {} is the kernel as it is.")],
        arch: Arch = DEFAULT_GPU,
        shape: Shape = None,
        case: Case = None,
    ) -> Annotated[CallToolResult, answers.Compared]:
        """What differs in the compiled code between two configurations, GPUs or shapes of a kernel."""
        for side in (old, new):
            if unknown := side.keys() - {"arch", "config", "shape", "case", "constexprs"}:
                raise ToolError(
                    f"compare does not take {', '.join(sorted(unknown))}; it takes arch, config, shape, case"
                )
        return await self._ask(
            answers.Compared, "compare", target=target, old=old, new=new, arch=arch, shape=shape, case=case
        )

    async def advise(
        self,
        *,
        target: Target,
        arch: Arch = DEFAULT_GPU,
        config: Config = None,
        shape: Shape = None,
        case: Case = None,
        budget: Seconds = 30.0,
    ) -> Annotated[CallToolResult, answers.AdviceAnswer]:
        """Compile a kernel with other knobs and give those that are predicted to be faster, with what they change."""
        run = None if self._reach.run else False
        return await self._ask(
            answers.AdviceAnswer, "advise", target=target, arch=arch, config=config, shape=shape, case=case,
            budget=budget, run=run,
        )  # fmt: skip

    async def rank(
        self,
        *,
        target: Target,
        arch: Arch = DEFAULT_GPU,
        config: Config = None,
        shape: Shape = None,
        case: Case = None,
        budget: Seconds = 60.0,
        top: Annotated[int, Field(description="Configurations wanted.", ge=1, le=100)] = 8,
    ) -> Annotated[CallToolResult, answers.Ranking]:
        """Rank the configurations of a kernel's search space by predicted time."""
        run = None if self._reach.run else False
        return await self._ask(
            answers.Ranking, "rank", target=target, arch=arch, config=config, shape=shape, case=case, budget=budget,
            top=top, run=run,
        )  # fmt: skip

    async def occupancy(
        self,
        *,
        arch: Arch = DEFAULT_GPU,
        target: Annotated[str | None, Field(description="A kernel; without one give the numbers.")] = None,
        vgpr: Annotated[int | None, Field(description="VGPRs of a wavefront, per lane.")] = None,
        agpr: int | None = None,
        lds: Annotated[int | None, Field(description="Bytes of LDS of a workgroup.")] = None,
        num_warps: int | None = None,
    ) -> Annotated[CallToolResult, answers.Occupied]:
        """Wavefronts a SIMD, what limits them, and what to give up for more."""
        return await self._ask(
            answers.Occupied, "occupancy", target=target, arch=arch, vgpr=vgpr, agpr=agpr, lds=lds, num_warps=num_warps
        )

    async def explain_rule(
        self, rule: Annotated[str, Field(description="A rule's identifier or name, as findings have it.")]
    ) -> Annotated[CallToolResult, answers.RuleText]:
        """What a rule looks for, why it matters and what to try."""
        return await self._ask(answers.RuleText, "explain_rule", rule=rule)

    async def kernels(self, arch: Arch = DEFAULT_GPU) -> Annotated[CallToolResult, answers.KernelList]:
        """The bundled kernels, with their cases and knobs."""
        return await self._ask(answers.KernelList, "kernels", arch=arch)

    async def capture(
        self,
        program: Annotated[list[str], Field(description='A command: ["python", "train.py"].')],
        output: Annotated[str, Field(description="A new folder that gets the capture.")],
        arch: Arch = DEFAULT_GPU,
    ) -> Annotated[CallToolResult, answers.Captured]:
        """Run a program on a simulated GPU and record the Triton kernels that it launches; needs --allow-run."""
        if not self._reach.run:
            raise ToolError("this server runs no programs: start it with --allow-run")
        try:
            place = self._reach.path(output)
        except KprofError as error:
            raise ToolError(str(error)) from error
        return await self._ask(answers.Captured, "capture", program=program, output=str(place), arch=arch)


NAMES = ("analyze", "compare", "advise", "rank", "occupancy", "explain_rule", "kernels", "capture")


class StrictServer(MCPServer[Any]):
    """Refuses arguments that a tool does not have: the SDK drops them, and the answer is to another question."""

    async def list_tools(self) -> "list[Tool]":
        """All tools; their schemas say that nothing else is taken."""
        tools = await super().list_tools()
        for tool in tools:
            tool.input_schema["additionalProperties"] = False
        return tools

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: "Context[Any, Any] | None" = None
    ) -> "CallToolResult | InputRequiredResult":
        """Ask a tool.

        Raises:
            ToolError: it does not have one of these arguments, or fails.
        """
        if name in NAMES:
            known = [*inspect.signature(getattr(Tools, name)).parameters][1:]
            if unknown := sorted(arguments.keys() - set(known)):
                raise ToolError(f"{name} does not take {', '.join(unknown)}; it takes {', '.join(known)}")
        return await super().call_tool(name, arguments, context)


def server(session: Session, reach: Reach) -> StrictServer:
    """The server with all tools."""
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
    """Serve on standard input and output until the client leaves."""
    server(session, reach).run("stdio")
