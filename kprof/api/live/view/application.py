"""The HTTP routes of ``kprof view``: the page's files, queries as JSON, and a stream of events."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from importlib import resources
from typing import Any, TypedDict, TypeVar

import msgspec
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from kprof.api.live.difference import side_by_side
from kprof.api.live.listings import STAGES
from kprof.api.live.questions import compared
from kprof.api.live.view.asked import (
    MOST_BYTES,
    DiffQuery,
    FindingQuery,
    Kind,
    OccupancyQuery,
    ViewQuery,
    advice_arguments,
    arguments,
    difference_arguments,
    kernel_arguments,
    landing_arguments,
    listing_arguments,
    pair_arguments,
    read,
    report_arguments,
    two_targets,
)
from kprof.api.live.view.hub import Hub
from kprof.api.live.view.open_questions import OpenQuestions, TooManyQuestionsError, error_fields, result
from kprof.api.live.view.tritons import TritonSessions
from kprof.api.live.watch import POLL, settle
from kprof.errors import KprofError
from kprof.importing.dependencies import stale, stamps
from kprof.version import __version__


class KernelCaption(TypedDict):
    """Texts that the page shows for one kernel: its verdict, better knobs from a search, and its causes of lost time.

    Each cause has the positions of its findings (beginning with the one that names the cause), its ``severity``,
    ``message``, ``cost`` and ``place``, and what to do as ``todo``, by kind: ``try`` and ``fix``.
    """

    verdict: str
    better: str
    causes: list[dict[str, Any]]


def words(document: Mapping[str, Any]) -> list[KernelCaption]:
    """Return the texts for each kernel of a document of ``kprof analyze --json``."""
    from kprof.document import KernelReport
    from kprof.reporters._kernel_words import better, verdict
    from kprof.reporters.answer import cause_text, causes_of

    found: list[KernelCaption] = []
    for entry in document["kernels"]:
        kernel = msgspec.convert(entry, KernelReport)
        causes = []
        for cause in causes_of(kernel):
            told = cause_text(kernel, cause)
            causes.append(
                {
                    "findings": cause.findings,
                    "severity": told.severity.value,
                    "message": told.message,
                    "cost": told.cost,
                    "place": told.place,
                    "todo": told.todo,
                }
            )
        known = "" if kernel.advised is msgspec.UNSET else better(kernel.advised)
        found.append({"verdict": verdict(kernel), "better": known, "causes": causes})
    return found


async def follow(questions: OpenQuestions, hub: Hub, poll: float = POLL) -> None:
    """Send ``changed`` with a target's position whenever a file that its last report depends on is saved.

    This coroutine runs until it is cancelled.
    """
    while True:
        await asyncio.sleep(poll)
        for target, files in list(questions.files.items()):
            if stale(files):
                await asyncio.to_thread(settle, files)
                if questions.files.get(target) is files:
                    # Update the time stamps only if no newer report has replaced the list of files in the meantime.
                    questions.files[target] = stamps(files)
                questions.saves[target] += 1
                hub.tell("changed", {"target": target, "saves": questions.saves[target]})


SCRIPTS = (
    "view", "dom", "server", "panes", "figures", "knobs", "tried", "occupancy", "better", "difference", "roofline",
    "dots", "neighbours", "timeline", "measured",
)  # fmt: skip
FILES: Mapping[str, tuple[str, str]] = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/view.css": ("view.css", "text/css; charset=utf-8"),
    **{f"/{name}.js": (f"{name}.js", "text/javascript; charset=utf-8") for name in SCRIPTS},
}
"""File and content type by URL path. No other files are served, and a URL is never converted to a file path."""

T = TypeVar("T")


@dataclass(frozen=True)
class Served:
    """The targets of a server, and their options.

    Attributes:
        targets: targets of :func:`kprof.analyze`.
        options: options of :func:`kprof.analyze` for all targets.
    """

    targets: Sequence[str]
    options: Mapping[str, Any]


class ViewServer:
    """Answers the page's requests.

    Args:
        tritons: sessions that answer queries, by Triton release.
        served: the targets that may be queried.
    """

    def __init__(self, tritons: TritonSessions, served: Served) -> None:
        self.hub = Hub()
        self._questions, self._served = OpenQuestions(tritons, self.hub), served

    def application(self) -> Starlette:
        """Return the ASGI application; the caller has to wrap it in a guard against foreign requests."""
        pages = [Route(path, partial(_file, *_content(name), kind)) for path, (name, kind) in FILES.items()]
        questions = [
            Route("/api/report", partial(_question, ViewQuery, self._report), methods=["POST"]),
            Route("/api/knobs", partial(_question, ViewQuery, self._knobs), methods=["POST"]),
            Route("/api/listing", partial(_question, ViewQuery, self._listing), methods=["POST"]),
            Route("/api/wavefronts", partial(_question, ViewQuery, self._wavefronts), methods=["POST"]),
            Route("/api/landing", partial(_question, FindingQuery, self._landing), methods=["POST"]),
            Route("/api/advise", partial(_question, ViewQuery, self._advise), methods=["POST"]),
            Route("/api/occupancy", partial(_question, OccupancyQuery, self._occupancy), methods=["POST"]),
            Route("/api/compare", partial(_question, DiffQuery, self._compare), methods=["POST"]),
            Route("/api/difference", partial(_question, DiffQuery, self._difference), methods=["POST"]),
        ]
        own = [
            Route("/api/session", self._about),
            Route("/api/stream", self._stream),
            # Browsers always request an icon, so answer without content.
            Route("/favicon.ico", _nothing),
        ]
        return Starlette(routes=[*pages, *questions, *own], lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, _: Starlette) -> AsyncIterator[None]:
        following = asyncio.create_task(follow(self._questions, self.hub))
        try:
            yield
        finally:
            following.cancel()
            with suppress(asyncio.CancelledError):
                await following

    async def _about(self, _: Request) -> Response:
        """Return the server's targets and options, and the results of earlier queries."""
        options = {name: value for name, value in self._served.options.items() if value}
        return JSONResponse({
            "kprof": __version__,
            "targets": list(self._served.targets),
            "options": options,
            "stages": list(STAGES),
            "tritons": self._questions.tritons.versions,
            "results": list(self.hub.results),
        })  # fmt: skip

    async def _stream(self, _: Request) -> Response:
        if self.hub.full:
            return _refused(429, KprofError("too many pages are open"))
        return StreamingResponse(self.hub.listen(), media_type="text/event-stream")

    async def _report(self, asked: ViewQuery) -> Any:
        given = report_arguments(asked, self._served.targets, self._served.options)
        document = await self._questions.report(asked.target, msgspec.to_builtins(asked), given)
        return {**document, "words": words(document)}

    async def _knobs(self, asked: ViewQuery) -> Any:
        given = arguments(asked, self._served.targets, self._served.options)
        return result(await self._questions.ask("knobs", given, asked.triton))

    async def _advise(self, asked: ViewQuery) -> Any:
        given = advice_arguments(asked, self._served.targets, self._served.options)
        return result(await self._questions.ask("advise", given, asked.triton))

    async def _occupancy(self, asked: OccupancyQuery) -> Any:
        given = {"arch": asked.arch, "vgpr": asked.vgpr, "agpr": asked.agpr, "lds": asked.lds}
        more = {"num_warps": asked.num_warps, "curve": asked.curve}
        return result(await self._questions.ask("occupancy", {**given, **more}))

    async def _compare(self, asked: DiffQuery) -> Any:
        if asked.old.triton != asked.new.triton:
            reports = await self._answers_of_both_sides("report", asked, arguments)
            return asdict(await asyncio.to_thread(compared, *reports))
        given = pair_arguments(asked, self._served.targets, self._served.options)
        return result(await self._questions.ask("compare", given, asked.new.triton))

    async def _difference(self, asked: DiffQuery) -> Any:
        if asked.old.triton != asked.new.triton:
            same = DiffQuery(asked.old, msgspec.structs.replace(asked.new, stage=asked.old.stage))
            listings = await self._answers_of_both_sides("listing", same, listing_arguments)
            return asdict(await asyncio.to_thread(side_by_side, *listings))
        given = difference_arguments(asked, self._served.targets, self._served.options)
        return result(await self._questions.ask("difference", given, asked.new.triton))

    async def _answers_of_both_sides(
        self, question: str, asked: DiffQuery, of: Callable[..., dict[str, Any]]
    ) -> list[dict[str, Any]]:
        """Return the answers to a query for both sides of a comparison, each compiled with that side's Triton."""
        if asked.old.target != asked.new.target:
            raise two_targets()
        given = [(of(one, self._served.targets, self._served.options), one.triton) for one in (asked.old, asked.new)]
        found = await asyncio.gather(*(self._questions.ask(question, each, triton) for each, triton in given))
        return [result(one) for one in found]

    async def _listing(self, asked: ViewQuery) -> Any:
        given = listing_arguments(asked, self._served.targets, self._served.options)
        return result(await self._questions.ask("listing", given, asked.triton))

    async def _wavefronts(self, asked: ViewQuery) -> Any:
        given = kernel_arguments(asked, self._served.targets, self._served.options)
        return result(await self._questions.ask("wavefronts", given, asked.triton))

    async def _landing(self, asked: FindingQuery) -> Any:
        given = landing_arguments(asked, self._served.targets, self._served.options)
        return result(await self._questions.ask("landing", given, asked.triton))


def _content(name: str) -> tuple[bytes]:
    return (resources.files("kprof.api.live.view").joinpath("static").joinpath(name).read_bytes(),)


async def _file(content: bytes, kind: str, _: Request) -> Response:
    return Response(content, headers={"content-type": kind})


async def _nothing(_: Request) -> Response:
    return Response(status_code=204)


async def _question(kind: type[Kind], answer: Callable[[Kind], Awaitable[Any]], request: Request) -> Response:
    """Read and answer a query; cancel it if the page disconnects."""
    try:
        body = await _body(request)
        if body is None:
            return _refused(413, KprofError(f"a query may have at most {MOST_BYTES:,} bytes"))
        return JSONResponse(await _unless_gone(request, answer(read(body, kind))))
    except TooManyQuestionsError as error:
        return _refused(429, error)
    except KprofError as error:
        return _refused(422, error)
    except ClientDisconnect:
        return Response(status_code=499)


async def _body(request: Request) -> bytes | None:
    """Return a request's body, or ``None`` if it is too long; reading stops at the limit."""
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > MOST_BYTES:
            return None
    return bytes(found)


async def _unless_gone(request: Request, answer: Awaitable[T]) -> T:
    """Wait for an answer, and cancel it if the client disconnects.

    Raises:
        ClientDisconnect: the client disconnected before the answer.
    """
    working, gone = asyncio.ensure_future(answer), asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait([working, gone], return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        for task in (working, gone):
            task.cancel()
        await asyncio.gather(working, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refused(status: int, error: KprofError) -> Response:
    return JSONResponse(error_fields(error), status_code=status)
