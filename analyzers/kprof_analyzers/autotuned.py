"""Choose the configuration that represents an autotuned kernel: the one that the model predicts to be fastest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from msgspec import UNSET
from msgspec.structs import replace as replace_struct

from kprof.compiler.limits import launch_problems
from kprof.condition import WARM, Condition
from kprof.document import AutotunedChoice, KernelReport, Prediction
from kprof.errors import KprofError, NotCompiledInTimeError
from kprof.hardware.machine import Product
from kprof.targets.loaded import ListedConfiguration, LoadedKernel
from kprof_analyzers.kernel_facts import facts_as_loaded, not_modelled
from kprof_analyzers.model.certainty import least_difference
from kprof_analyzers.model.kernel import predict
from kprof_analyzers.model.occupancy_gain import without_guesses


@dataclass(frozen=True)
class TimedConfiguration:
    """A configuration that can be launched, with its predicted time.

    Attributes:
        config: configuration as its autotuner lists it.
        kernel: the compiled kernel with its launch.
        prediction: the model's prediction, which has a time.
    """

    config: str
    kernel: LoadedKernel
    prediction: Prediction


def in_chosen_configuration(loaded: LoadedKernel) -> LoadedKernel:
    """Return the kernel in the configuration that its autotuner would choose according to the model.

    The returned kernel records the choice. A kernel without an autotuner, or without any predicted time, is returned
    unchanged.

    Args:
        loaded: any kernel.
    """
    if loaded.choice is not None or not loaded.listed:
        return loaded
    choosing = loaded.listed_first or loaded.listed
    choice = choose(choosing, loaded.product, loaded.condition)
    if choice is None:
        return loaded
    return chosen(loaded, choice)


def chosen(loaded: LoadedKernel, choice: AutotunedChoice) -> LoadedKernel:
    """Load the kernel in the chosen configuration, with the GPU and the timing condition of ``loaded``.

    Args:
        loaded: the kernel in its autotuner's first configuration.
        choice: the configuration. An autotuner chooses it for the first launch with an autotuner key, and reuses it for
            later launches with this key.
    """
    for one in loaded.listed:
        if one.config == choice.config:
            kernel = one.load()
            return replace(
                kernel,
                product=loaded.product,
                condition=loaded.condition,
                unrecorded=loaded.unrecorded,
                choice=choice,
            )
    return loaded


def choose(
    listed: Sequence[ListedConfiguration], product: Product | None, condition: Condition = WARM
) -> AutotunedChoice | None:
    """Choose the configuration that the model predicts to be fastest, or return ``None`` if none has a time.

    Configurations that cannot be launched are skipped, as a real autotuner skips them. Predicted times that differ by
    less than :func:`kprof_analyzers.model.certainty.least_difference` count as equal, because an error of the model is
    mostly common to all configurations of a kernel.

    Args:
        listed: configurations, each with its launch.
        product: the GPU.
        condition: state of the caches when the launches start.
    """
    timed: list[TimedConfiguration] = []
    left_out: dict[str, int] = {}
    for one in listed:
        found = _timed(one, product, condition)
        if isinstance(found, str):
            left_out[found] = left_out.get(found, 0) + 1
        else:
            timed.append(found)
    return choose_fastest({one.config: one.prediction for one in timed}, len(listed), left_out)


def choose_fastest(
    predictions: Mapping[str, Prediction], listed: int, left_out: Mapping[str, int] | None = None
) -> AutotunedChoice | None:
    """Choose the configuration with the shortest predicted time, or return ``None`` if none has a time.

    The time range of the choice combines several predictions. Its upper end is the upper end of the configuration with
    the shortest predicted time, because the autotuner's real choice takes at most as long. Its lower end is the lowest
    one of all configurations that the model cannot distinguish from this configuration.

    Args:
        predictions: prediction of each configuration's launch.
        listed: number of configurations that the autotuner lists.
        left_out: number of configurations without a time, by reason.
    """
    times = {config: said.time_us for config, said in predictions.items() if said.time_us is not None}
    if not times:
        return None
    best = min(times, key=lambda config: times[config])
    tied = [config for config, time in times.items() if time < times[best] * (1 + least_difference())]
    lows = [said.low_us for config in tied if (said := predictions[config]).low_us is not None]
    return AutotunedChoice(
        config=best,
        listed=listed,
        timed=len(times),
        spread=max(times.values()) / times[best] if times[best] else 1.0,
        tied=len(tied),
        low_us=min(lows, default=None),
        left_out=dict(left_out or {}),
    )


def with_choice(report: KernelReport, choice: AutotunedChoice | None) -> KernelReport:
    """Return the report with the choice, and with a time range that covers all configurations that count as equal."""
    if choice is None:
        return report
    model = report.model
    if model is not UNSET and model.low_us is not None and choice.low_us is not None:
        model = replace_struct(model, low_us=min(model.low_us, choice.low_us))
    return replace_struct(report, model=model, autotuned=choice)


def _timed(one: ListedConfiguration, product: Product | None, condition: Condition) -> TimedConfiguration | str:
    """Return the configuration with its prediction, or the reason why it has none."""
    try:
        kernel = replace(one.load(), product=product, condition=condition)
    except NotCompiledInTimeError:
        return "not compiled in time"
    except KprofError:
        return "not compiled"
    if launch_problems(kernel.arch.name, kernel.metadata):
        return "cannot be launched"
    facts, _ = facts_as_loaded(kernel)
    if not_modelled(facts) is not None:
        return "cannot be launched"
    try:
        prediction = without_guesses(predict(facts))
    except Exception:  # noqa: BLE001 - one configuration that cannot be modelled must not hide the others
        return "no time known"
    return "no time known" if prediction.time_us is None else TimedConfiguration(one.config, kernel, prediction)


MAX_SENTENCES = 3
"""Maximum number of autotuned kernels that each get a sentence; more share one."""


def choices_in_words(made: Iterable[tuple[str, AutotunedChoice]]) -> list[str]:
    """Describe the choices of a program's autotuners: a sentence for each kernel, or one for all if there are many.

    Args:
        made: name of the kernel and choice of its autotuner, for each launch.
    """
    sentences = {f"{name}: {choice.words}": (name, choice) for name, choice in made}
    if len(sentences) <= MAX_SENTENCES:
        return list(sentences)
    spreads = [choice.spread for _, choice in sentences.values() if choice.timed > 1]
    words = [f"{len(sentences)} autotuned kernels run in the best of their configurations by the model"]
    if spreads:
        words.append(f"{min(spreads):.2g}x to {max(spreads):.2g}x between best and worst")
    reasons = dict.fromkeys(reason for _, choice in sentences.values() for reason in choice.left_out)
    for reason in reasons:
        counts: dict[str, int] = {}
        for name, choice in sentences.values():
            if reason in choice.left_out:
                counts[name] = counts.get(name, 0) + choice.left_out[reason]
        most = max(counts, key=lambda name: counts[name])
        which = f"{counts[most]:,} of {most}" if len(counts) > 1 else f"of {most}"
        words.append(f"{sum(counts.values()):,} configurations {reason} ({which})")
    return ["; ".join(words)]
