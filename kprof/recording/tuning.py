"""Patch Triton's autotuners: no configuration is timed, and the first one that can be launched is used.

Every configuration's launch is recorded, with its own grid, and compiled if the recording's time permits.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kprof.recording.recorder import Recorder
    from kprof.simulation.patches import Patches

_NAN = float("nan")


class UnknownTimes(list[float]):
    """Replacement for the unknown times of one configuration.

    An autotuner compares configurations to find the fastest. The first one that can be launched is made to win. Whether
    a configuration can be launched is only determined at the comparison, so all are compiled meanwhile.
    """

    def __init__(self, usable: Callable[[], bool]) -> None:
        super().__init__([_NAN, _NAN, _NAN])
        self._usable = usable

    def __lt__(self, other: object) -> bool:
        return isinstance(other, UnknownTimes) and not other._usable() and self._usable()

    def __gt__(self, other: object) -> bool:
        return isinstance(other, UnknownTimes) and other < self

    __hash__ = None


class UsedCache(dict[Any, Any]):
    """An autotuner's choices by key. It also stores the key that was looked up last."""

    last: Any = None

    def __getitem__(self, key: Any) -> Any:
        self.last = key
        return super().__getitem__(key)


def install(recorder: "Recorder", patches: "Patches") -> None:
    """Route autotuners and benchmarks through the recorder."""
    import triton.testing
    from triton.runtime.autotuner import Autotuner

    original_bench = Autotuner._bench  # noqa: SLF001
    original_run = Autotuner.run

    def bench(self: Any, *args: Any, config: Any, **meta: Any) -> Any:
        with recorder.candidate(config) as candidate:
            try:
                original_bench(self, *args, config=config, **meta)
            except Exception as error:  # noqa: BLE001
                # An error of the whole program would occur for every configuration; an error of one configuration ends
                # only that one.
                candidate.error = f"{type(error).__name__}: {error}".splitlines()[0]
        return UnknownTimes(lambda: recorder.usable(candidate.kernel))

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        def again(configs: Sequence[Any]) -> None:
            for config in configs:
                bench(self, *args, config=config, **kwargs)

        if not isinstance(self.cache, UsedCache):
            self.cache = UsedCache(self.cache)
        with recorder.tuning(self, again):
            return original_run(self, *args, **kwargs)

    def from_disk(self: Any, tuning_key: Any, configs: Any, bench_fn: Callable[[], Any]) -> bool:
        # Times from another device must not decide, and unknown times must not be stored.
        del self, tuning_key, configs
        bench_fn()
        return False

    patches.set(Autotuner, "_bench", bench)
    patches.set(Autotuner, "run", run)
    patches.set(Autotuner, "do_bench", property(lambda _self: call_once, lambda _self, _value: None))
    if hasattr(Autotuner, "check_disk_cache"):
        patches.set(Autotuner, "check_disk_cache", from_disk)
    patches.update(triton.testing, {"do_bench": do_bench, "do_bench_cudagraph": do_bench})


def call_once(kernel_call: Callable[[], Any], *_args: Any, **_options: Any) -> list[float]:
    """Replace an autotuner's benchmark: call once and return unknown times."""
    kernel_call()
    return [_NAN, _NAN, _NAN]


def do_bench(fn: Callable[[], Any], *_args: Any, quantiles: Any = None, return_mode: str = "mean", **_: Any) -> Any:
    """Replace ``triton.testing.do_bench``: call once and return unknown times."""
    fn()
    if quantiles is not None:
        return [_NAN] * len(quantiles) if len(quantiles) > 1 else _NAN
    return [_NAN] if return_mode == "all" else _NAN
