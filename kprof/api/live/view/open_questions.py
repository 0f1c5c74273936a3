"""Questions of the pages to the session: so many at a time, and none that no page waits for."""

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
"""Questions that wait or are worked on; with more, a page is asked to come back later."""


class TooManyQuestionsError(KprofError):
    """As many questions as may be are waiting for an answer."""


class OpenQuestions:
    """Asks the session for the pages, and tells them what comes back.

    Args:
        tritons: whose sessions answer.
        hub: gets each report that is finished.

    Attributes:
        files: target to the files that its last report rests on.
        saves: target to how often one of them was saved since.
    """

    def __init__(self, tritons: TritonSessions, hub: Hub) -> None:
        self.tritons, self._hub = tritons, hub
        self._open: set[Question] = set()
        self.files: dict[int, Mapping[str, Stamp]] = {}
        self.saves: Counter[int] = Counter()

    async def ask(self, question: str, arguments: Mapping[str, Any], triton: str = "") -> Question:
        """Ask, and wait until it is answered, also by an error; given up when the waiting task is cancelled.

        Args:
            question: its name.
            arguments: of it.
            triton: release that compiles; the installed one when empty.

        Raises:
            TooManyQuestionsError: too many questions are open.
            KprofError: there is no such Triton.
        """
        if len(self._open) >= MOST_QUESTIONS:
            raise TooManyQuestionsError(
                f"{MOST_QUESTIONS} questions are waiting for an answer", hint="Ask again in a moment."
            )
        asked = self.tritons.session(triton).submit(question, **arguments)
        self._open.add(asked)
        try:
            done = asyncio.wrap_future(asked)
            await asyncio.wait([done])
            # Whoever asks for the result gets the exception; here it is only marked as seen.
            _ = done.cancelled() or done.exception()
        except asyncio.CancelledError:
            asked.cancel()
            raise
        finally:
            self._open.discard(asked)
        return asked

    async def report(self, target: int, asked: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The document of ``kprof analyze --json``; all pages get its first figures, or why there is none.

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
            # Their texts are in the document.
            del one["causes"]
            one["findings"] = [f"{each['rule']} {each['name']}" for each in entry["findings"]]
        self._hub.tell("result", {**news, "kernels": kernels})
        return document


def result(asked: Question) -> dict[str, Any]:
    """The answer to a question that is done.

    Raises:
        KprofError: as the question ended.
    """
    try:
        return asked.result(0)
    except CancelledError:
        raise KprofError("the question was given up") from None


def error_fields(error: KprofError) -> dict[str, str | None]:
    """An error as JSON values."""
    return {"message": error.message, "path": error.path, "place": error.place, "hint": error.hint}
