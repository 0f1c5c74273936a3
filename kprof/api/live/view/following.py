"""Telling the pages that a file of a target was saved."""

import asyncio

from kprof.api.live.view.hub import Hub
from kprof.api.live.view.open_questions import OpenQuestions
from kprof.api.live.watch import POLL, settle
from kprof.importing.dependencies import stale, stamps


async def follow(questions: OpenQuestions, hub: Hub, poll: float = POLL) -> None:
    """Tell ``changed`` with the target's position after each save of a file that its last report rests on.

    It never ends by itself.
    """
    while True:
        await asyncio.sleep(poll)
        for target, files in list(questions.files.items()):
            if stale(files):
                await asyncio.to_thread(settle, files)
                if questions.files.get(target) is files:
                    # A report that is asked for now says anew which files count.
                    questions.files[target] = stamps(files)
                questions.saves[target] += 1
                hub.tell("changed", {"target": target, "saves": questions.saves[target]})
