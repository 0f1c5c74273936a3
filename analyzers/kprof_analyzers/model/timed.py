"""Predict only a kernel's time and not the costs of its findings, for tools that compare many kernels."""

from dataclasses import replace

import msgspec

from kprof.document import KernelReport
from kprof.targets.loaded import LoadedKernel
from kprof_analyzers.kernel_facts import not_modelled
from kprof_analyzers.model.kernel import predict
from kprof_analyzers.model.occupancy_gain import without_guesses
from kprof_analyzers.pipeline import facts_of


def with_time(report: KernelReport, kernel: LoadedKernel) -> KernelReport:
    """Return the report with the predicted time of the kernel's launch, if the model has one."""
    from kprof_analyzers.autotuned import in_chosen_configuration, with_choice

    gpu = kernel.product or next(iter(kernel.arch.products.values()), None)
    kernel = in_chosen_configuration(replace(kernel, product=gpu))
    facts = facts_of(kernel)[0]
    if not_modelled(facts) is not None:
        return report
    try:
        prediction = predict(facts)
    except Exception:  # noqa: BLE001 - a failing prediction must not hide the rest of the report
        return report
    found: KernelReport = msgspec.structs.replace(report, model=without_guesses(prediction))
    return with_choice(found, kernel.choice)
