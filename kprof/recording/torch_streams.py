"""Streams, events and graphs without a GPU: everything happens at once, in the order of the program."""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.torch_device import StandInDevice

_HANDLES = itertools.count(1)


class Stream:
    """Stands for ``torch.cuda.Stream``.

    Attributes:
        cuda_stream: a number of its own, 0 for the default stream; launches are recorded with it.
    """

    def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
        self.device_index = 0
        self.requested = device
        self.priority = priority
        self.cuda_stream = next(_HANDLES)

    @property
    def device(self) -> Any:
        """The GPU."""
        import torch

        return torch.device("cuda", self.device_index)

    @property
    def stream_id(self) -> int:
        """As ``cuda_stream``."""
        return self.cuda_stream

    def wait_stream(self, stream: Any) -> None:
        """Nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """Nothing to wait for."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def query(self) -> bool:
        """Everything is done."""
        return True

    def is_capturing(self) -> bool:
        """No graph is captured."""
        return False

    def record_event(self, event: Any = None) -> Any:
        """An event that has happened."""
        return Event() if event is None else event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.cuda_stream == self.cuda_stream

    def __hash__(self) -> int:
        return hash(self.cuda_stream)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to leave."""


class Event:
    """Stands for ``torch.cuda.Event``: has happened as soon as it is recorded; times are not known."""

    cuda_event = 0

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        """Flags mean nothing here."""

    def record(self, stream: Any = None) -> None:
        """It has happened."""

    def wait(self, stream: Any = None) -> None:
        """Nothing to wait for."""

    def synchronize(self) -> None:
        """Nothing to wait for."""

    def query(self) -> bool:
        """It has happened."""
        return True

    def elapsed_time(self, end: Any) -> float:
        """Milliseconds: not known."""
        del end
        return float("nan")


class Graph:
    """Stands for ``torch.cuda.CUDAGraph``: what is captured is recorded once, with how often it is replayed."""

    note: Callable[[int, str], None] | None = None
    """Is told the graph's number, and ``begin``, ``end`` or ``replay``."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        self.number = next(_HANDLES)

    def _tell(self, what: str) -> None:
        if Graph.note is not None:
            Graph.note(self.number, what)

    def capture_begin(self, *_args: Any, **_kwargs: Any) -> None:
        """Launches are recorded as those of this graph."""
        self._tell("begin")

    def capture_end(self) -> None:
        """Launches are recorded as the program's again."""
        self._tell("end")

    def replay(self) -> None:
        """What was captured counts once more."""
        self._tell("replay")

    def reset(self) -> None:
        """Nothing to free."""

    def pool(self) -> tuple[int, int]:
        """A memory pool that is none."""
        return (0, 0)


class GraphCapture:
    """Stands for ``torch.cuda.graph``.

    Args:
        graph: that captures what is launched inside.
    """

    def __init__(self, graph: Any, *_args: Any, **_kwargs: Any) -> None:
        self._graph = graph

    def __enter__(self) -> None:
        self._graph.capture_begin()

    def __exit__(self, *_: object) -> None:
        self._graph.capture_end()


def answers(device: "StandInDevice") -> dict[str, Any]:
    """What replaces the names of ``torch.cuda``."""
    recorder = device.recorder

    def note_graph(graph: int, what: str) -> None:
        recorder.start()
        recorder.journal.write("graph", {"graph": graph, "what": what})

    Graph.note = note_graph if recorder.settings.operators else None
    default = Stream()
    default.cuda_stream = 0

    class CurrentStream:
        """Stands for ``torch.cuda.StreamContext``."""

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
