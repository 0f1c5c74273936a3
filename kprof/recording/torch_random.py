"""Random numbers of the simulated GPU: drawn by the CPU's generator, with a GPU generator's 16 bytes of state.

A GPU uses Philox, whose state is a seed and an offset, 8 bytes each; programs read them to draw numbers in their own
kernels. The state of the CPU's generator has 5,056 bytes. Each state that a program saved gets its own offset, by which
it can be restored; an unknown state seeds the CPU's generator.
"""

import struct
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.torch_device import StandInDevice

_FORM = struct.Struct("<Qq")
_STEP = 4
"""Granularity of offsets, because Philox produces four numbers at a time."""
_MOST_STATES = 4096
"""Maximum number of states that can be restored; they take 20 MB.

Beyond it the oldest state is dropped. Restoring a dropped state seeds the CPU's generator.
"""
_MASK = (1 << 64) - 1


class PhiloxState:
    """The state of a CPU generator in the form that a GPU generator uses.

    Args:
        source: the generator that draws.
    """

    def __init__(self, source: Any) -> None:
        import torch

        # The class of ``source`` may override the generator's methods by calls to this class. Therefore torch's own
        # methods are called.
        self._plain: Any = torch._C.Generator  # noqa: SLF001
        self._source = source
        # States by seed and offset, and offsets by seed and state. An offset is not reused for another state of its
        # seed.
        self._states: OrderedDict[tuple[int, int], bytes] = OrderedDict()
        self._offsets: dict[tuple[int, bytes], int] = {}
        self._next: Counter[int] = Counter()
        # The CPU generator's seed, and the seed that the program sees; they differ after `go_to`.
        self._seeded: int
        self._seed: int
        self._begin()

    def seed(self) -> int:
        """Return the seed of the drawn numbers."""
        seeded = self._source_seed()
        if seeded != self._seeded:
            # The program seeded the CPU's generator itself and may have drawn since, so this is not offset 0.
            self._seeded = self._seed = seeded
            self._next[seeded] = max(self._next[seeded], _STEP)
        return self._seed

    def manual_seed(self, seed: int) -> None:
        """Set the seed, and start at its offset 0."""
        self._plain.manual_seed(self._source, seed)
        self._begin()

    def random_seed(self) -> int:
        """Set a random seed, start at its offset 0, and return the seed."""
        self._plain.seed(self._source)
        self._begin()
        return self._seed

    def _begin(self) -> None:
        """Record the state right after the source was seeded."""
        self._seeded = self._seed = self._source_seed()
        self._keep(0, self._own_state())

    def _keep(self, offset: int, state: bytes) -> None:
        """Store a state for later restoring by its offset; drop the oldest if there are too many."""
        self._states[self._seed, offset] = state
        self._states.move_to_end((self._seed, offset))
        self._offsets[self._seed, state] = offset
        self._next[self._seed] = max(self._next[self._seed], offset + _STEP)
        if len(self._states) > _MOST_STATES:
            (seed, _), oldest = self._states.popitem(last=False)
            self._offsets.pop((seed, oldest), None)

    def offset(self) -> int:
        """Return the offset of the present state, which is unique among a seed's states; 0 right after seeding."""
        seed, state = self.seed(), self._own_state()
        found = self._offsets.get((seed, state))
        if found is None:
            found = self._next[seed]
            self._keep(found, state)
        return found

    def get(self) -> Any:
        """Return the state: 16 bytes in a CPU tensor."""
        import torch
        from torch.utils._python_dispatch import _disable_current_modes

        offset = self.offset()
        with _disable_current_modes():
            return torch.frombuffer(bytearray(_FORM.pack(self._seed, offset)), dtype=torch.uint8)

    def set(self, state: Any) -> None:
        """Continue drawing from a saved state.

        Raises:
            TypeError: if it is not a tensor of bytes.
            RuntimeError: if it does not have 16 bytes.
        """
        import torch
        from torch.utils._python_dispatch import _disable_current_modes

        if state.dtype is not torch.uint8:
            raise TypeError("RNG state must be a torch.ByteTensor")
        with _disable_current_modes():
            given = bytes(state.cpu().flatten().tolist())
        if len(given) != _FORM.size:
            raise RuntimeError("RNG state is wrong size")
        self.go_to(*_FORM.unpack(given))

    def go_to(self, seed: int, offset: int) -> None:
        """Continue drawing from an offset of a seed.

        Raises:
            RuntimeError: if the offset is not a multiple of four.
        """
        if offset % _STEP:
            raise RuntimeError("offset must be a multiple of 4")
        known = self._states.get((seed, offset))
        if known is not None:
            self._restore_state(known)
        else:
            # Each offset gets its own numbers, which are the same each time.
            self._plain.manual_seed(self._source, (seed + 0x9E3779B97F4A7C15 * (offset // _STEP)) & _MASK)
        self._seeded, self._seed = self._source_seed(), seed
        self._keep(offset, self._own_state())

    def _source_seed(self) -> int:
        return int(self._plain.initial_seed(self._source)) & _MASK

    def _own_state(self) -> bytes:
        from torch.utils._python_dispatch import _disable_current_modes

        with _disable_current_modes():
            return bytes(self._plain.get_state(self._source).numpy())

    def _restore_state(self, state: bytes) -> None:
        import torch
        from torch.utils._python_dispatch import _disable_current_modes

        with _disable_current_modes():
            self._plain.set_state(self._source, torch.frombuffer(bytearray(state), dtype=torch.uint8))


def install(device: "StandInDevice") -> None:
    """Patch ``torch.Generator`` and the random number functions of ``torch.cuda``."""
    import torch

    kind = _generator_class()
    device.patches.set(torch, "Generator", kind)
    state = PhiloxState(torch.default_generator)
    count = torch.cuda.device_count()
    # All GPUs share the CPU's generator.
    generators = tuple(kind(f"cuda:{index}", state) for index in range(count))
    device.patches.update(torch.cuda, _answers(state, generators))


def _answers(state: PhiloxState, generators: tuple[Any, ...]) -> dict[str, Any]:
    def set_all(states: Any) -> None:
        for new in states:
            state.set(new)

    def manual_seed(seed: Any) -> None:
        state.manual_seed(int(seed))

    def seed() -> None:
        state.random_seed()

    return {
        "manual_seed": manual_seed,
        "manual_seed_all": manual_seed,
        "seed": seed,
        "seed_all": seed,
        "initial_seed": state.seed,
        "get_rng_state": lambda *_args, **_kwargs: state.get(),
        "get_rng_state_all": lambda: [state.get() for _ in generators],
        "set_rng_state": lambda new_state, *_args, **_kwargs: state.set(new_state),
        "set_rng_state_all": set_all,
        "default_generators": generators,
    }


def _generator_class() -> Any:
    import torch

    plain: Any = torch.Generator

    class Generator(plain):  # type: ignore[misc]
        """A generator that claims to be on the GPU, and draws on the CPU."""

        def __new__(cls, device: Any = "cpu", state: PhiloxState | None = None) -> Any:  # noqa: ARG004  # same parameters as __init__
            return super().__new__(cls, "cpu")

        def __init__(self, device: Any = "cpu", state: PhiloxState | None = None) -> None:
            self._kprof_device = torch.device(device)
            on_gpu = self._kprof_device.type != "cpu"
            self._kprof_state = state or (PhiloxState(self) if on_gpu else None)

        @property
        def device(self) -> Any:
            return self._kprof_device

        def get_state(self) -> Any:
            return super().get_state() if self._kprof_state is None else self._kprof_state.get()

        def set_state(self, new_state: Any) -> Any:
            if self._kprof_state is None:
                return super().set_state(new_state)
            self._kprof_state.set(new_state)
            return self

        def get_offset(self) -> int:
            found: int = super().get_offset() if self._kprof_state is None else self._kprof_state.offset()
            return found

        def set_offset(self, offset: int) -> Any:
            if self._kprof_state is None:
                return super().set_offset(offset)
            self._kprof_state.go_to(self._kprof_state.seed(), offset)
            return self

        def initial_seed(self) -> int:
            found: int = super().initial_seed() if self._kprof_state is None else self._kprof_state.seed()
            return found

        def manual_seed(self, seed: int) -> Any:
            if self._kprof_state is None:
                return super().manual_seed(seed)
            self._kprof_state.manual_seed(seed)
            return self

        def seed(self) -> int:
            found: int = super().seed() if self._kprof_state is None else self._kprof_state.random_seed()
            return found

    return Generator
