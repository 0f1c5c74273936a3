"""The pages' open queries to the session: their number is limited, and abandoned queries are cancelled."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import CancelledError
from dataclasses import asdict
from typing import Any

from kprof.api.live.questions import kernel_answer
from kprof.api.live.session import Question
from kprof.api.live.view.asked import MEASURED
from kprof.api.live.view.hub import Hub
from kprof.api.live.view.tritons import TritonSessions
from kprof.errors import KprofError
from kprof.importing.dependencies import Stamp

MOST_QUESTIONS = 64
"""Maximum number of open queries; further queries are rejected, and the page must try again later."""


class TooManyQuestionsError(KprofError):
    """The maximum number of open queries is reached."""


class OpenQuestions:
    """Sends the pages' queries to the sessions, and broadcasts finished reports.

    Args:
        tritons: sessions that answer queries, by Triton release.
        hub: hub that receives each finished report.

    Attributes:
        files: files that the last report of each target depends on, by the target's position.
        saves: number of times that a file in ``files`` was saved, by the target's position.
    """

    def __init__(self, tritons: TritonSessions, hub: Hub) -> None:
        self.tritons, self._hub = tritons, hub
        self._open: set[Question] = set()
        self.files: dict[int, Mapping[str, Stamp]] = {}
        self.saves: Counter[int] = Counter()

    async def ask(self, question: str, arguments: Mapping[str, Any], triton: str = "") -> Question:
        """Submit a query and wait until it has an answer or an error; cancel it if the waiting task is cancelled.

        Args:
            question: name of the query.
            arguments: arguments of the query.
            triton: Triton release to compile with; "" for the installed one.

        Raises:
            TooManyQuestionsError: too many queries are open.
            KprofError: the Triton release is not available.
        """
        if len(self._open) >= MOST_QUESTIONS:
            raise TooManyQuestionsError(
                f"{MOST_QUESTIONS} queries are waiting for an answer", hint="Try again in a moment."
            )
        asked = self.tritons.session(triton).submit(question, **arguments)
        self._open.add(asked)
        try:
            done = asyncio.wrap_future(asked)
            await asyncio.wait([done])
            # Callers read a failure from the answered query. Reading the failure here prevents asyncio's warning
            # about an exception that was never retrieved.
            _ = done.cancelled() or done.exception()
        except asyncio.CancelledError:
            asked.cancel()
            raise
        finally:
            self._open.discard(asked)
        return asked

    async def report(self, target: int, asked: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the document of ``kprof analyze --json``, and send its main figures or its error to all pages.

        Raises:
            KprofError: as :func:`kprof.analyze`.
        """
        began = time.monotonic()
        question = "joined_report" if any(arguments.get(name) for name in MEASURED) else "report"
        found = await self.ask(question, arguments, asked.get("triton", ""))
        if found.files:
            self.files[target] = found.files
        took = round(time.monotonic() - began, 3)
        news: dict[str, Any] = {"asked": asked, "saves": self.saves[target], "seconds": took}
        try:
            document = result(found)
        except KprofError as error:
            self._hub.tell("result", {**news, "error": error_fields(error)})
            raise
        kernels = [asdict(kernel_answer(one)) for one in document["kernels"]]
        for one, entry in zip(kernels, document["kernels"], strict=True):
            one["roofline"] = (entry.get("model") or {}).get("roofline")
            # The page reads the causes from the document that this method returns, so the event need not repeat them.
            del one["causes"]
            one["findings"] = [f"{each['rule']} {each['name']}" for each in entry["findings"]]
        self._hub.tell("result", {**news, "kernels": kernels})
        return document


def result(asked: Question) -> dict[str, Any]:
    """Return the answer to a finished query.

    Raises:
        KprofError: the query failed or was cancelled.
    """
    try:
        return asked.result(0)
    except CancelledError:
        raise KprofError("the query was cancelled") from None


def error_fields(error: KprofError) -> dict[str, str | None]:
    """Return an error as JSON values."""
    return {"message": error.message, "path": error.path, "place": error.place, "hint": error.hint}
