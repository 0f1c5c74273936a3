"""Replacements for CUDA streams, events and graphs: all work is done immediately, in program order."""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.torch_device import StandInDevice

_HANDLES = itertools.count(1)

ANSWERED_MS = 1.0
"""Milliseconds between any two events. Programs compute numbers of repetitions from it, which NaN would break."""


class Stream:
    """Replacement for ``torch.cuda.Stream``.

    Attributes:
        cuda_stream: unique number of the stream, 0 for the default stream; launches are recorded with it.
    """

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device_index = 0
        self.requested = device
        self.priority = priority
        self.cuda_stream = next(_HANDLES)

    @property
    def device(self) -> Any:
        """The simulated GPU."""
        import torch

        return torch.device("cuda", self.device_index)

    @property
    def stream_id(self) -> int:
        """Same as ``cuda_stream``."""
        return self.cuda_stream

    def wait_stream(self, stream: Any) -> None:
        """Do nothing, because there is nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """Do nothing, because there is nothing to wait for."""

    def synchronize(self) -> None:
        """Do nothing, because there is nothing to wait for."""

    def query(self) -> bool:
        """Return True, because all work is done."""
        return True

    def is_capturing(self) -> bool:
        """Return False, because no graph is captured."""
        return False

    def record_event(self, event: Any = None) -> Any:
        """Return an event that has already happened."""
        return Event() if event is None else event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing."""


class Event:
    """Replacement for ``torch.cuda.Event``: it has happened as soon as it is recorded; times are unknown."""

    cuda_event = 0
    asked: Callable[[], None] | None = None
    """Function to call when the program asks for a time; ``None``: no function."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        """Ignore all flags."""

    def record(self, stream: Any = None) -> None:
        """Do nothing, because the event has already happened."""

    def wait(self, stream: Any = None) -> None:
        """Do nothing, because there is nothing to wait for."""

    def synchronize(self) -> None:
        """Do nothing, because there is nothing to wait for."""

    def query(self) -> bool:
        """Return True, because the event has happened."""
        return True

    def elapsed_time(self, end: Any) -> float:
        """Return :data:`ANSWERED_MS`, because the time is unknown."""
        del end
        if Event.asked is not None:
            Event.asked()
        return ANSWERED_MS


class Graph:
    """Replacement for ``torch.cuda.CUDAGraph``: captured launches are recorded once, with the number of replays."""

    note: Callable[[int, str], None] | None = None
    """Function to call with the graph's number, and ``begin``, ``end`` or ``replay``; ``None``: no function."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.number = next(_HANDLES)

    def _tell(self, what: str) -> None:
        if Graph.note is not None:
            Graph.note(self.number, what)

    def capture_begin(self, *_args: Any, **_kwargs: Any) -> None:
        """Record the following launches as launches of this graph."""
        self._tell("begin")

    def capture_end(self) -> None:
        """Stop recording launches as launches of this graph."""
        self._tell("end")

    def replay(self) -> None:
        """Count one more replay of the captured launches."""
        self._tell("replay")

    def reset(self) -> None:
        """Do nothing, because there is nothing to free."""

    def pool(self) -> tuple[int, int]:
        """Return a placeholder for a memory pool."""
        return (0, 0)


class GraphCapture:
    """Replacement for ``torch.cuda.graph``.

    Args:
        graph: the graph that captures the launches inside.
    """

    def __init__(self, graph: Any, *_args: Any, **_kwargs: Any) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._graph.capture_begin()

    def __exit__(self, *_: object) -> None:
        self._graph.capture_end()


def answers(device: "StandInDevice") -> dict[str, Any]:
    """Return the replacements for names of ``torch.cuda``."""
    recorder = device.recorder

    def note_graph(graph: int, what: str) -> None:
        recorder.start()
        recorder.journal.write("graph", {"graph": graph, "what": what})

    def note_time() -> None:
        recorder.note(
            f"the program asks for times between events: each is answered {ANSWERED_MS:g} ms, none is measured"
        )

    Event.asked = note_time
    Graph.note = note_graph if recorder.settings.operators else None
    default = Stream()
    default.cuda_stream = 0

    class CurrentStream:
        """Replacement for ``torch.cuda.StreamContext``."""

        def __init__(self, stream: Any) -> None:
            self.stream = stream
            self._before: Any = None

        def __enter__(self) -> Any:
            self._before = device.stream
            if self.stream is not None:
                device.stream = self.stream
            return self.stream

        def __exit__(self, *_: object) -> None:
            device.stream = self._before

    def set_stream(stream: Any) -> None:
        device.stream = stream

    return {
        "Stream": Stream,
        "ExternalStream": Stream,
        "Event": Event,
        "StreamContext": CurrentStream,
        "stream": CurrentStream,
        "set_stream": set_stream,
        "current_stream": lambda *_args: device.stream or default,
        "default_stream": lambda *_args: default,
        "get_stream_from_external": lambda *_args, **_kwargs: Stream(),
        "CUDAGraph": Graph,
        "graph": GraphCapture,
        "graph_pool_handle": lambda: (0, 0),
        "is_current_stream_capturing": lambda: False,
        "make_graphed_callables": lambda callables, *_args, **_kwargs: callables,
    }
