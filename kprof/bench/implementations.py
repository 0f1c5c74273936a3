"""Implementations of a kernel's problem: Triton, torch, and the installed libraries.

The implementations of torch and the libraries for bundled kernels are in ``kprof.bench.providers``, one file per
family. A user's kernel lists its other implementations in ``Kernel.providers``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from kprof.bench.providers.prepared import Prepared
from kprof.errors import KprofError
from kprof.kernel_spec import Config, Kernel, Shape, launch_gpu

Provider = Callable[[Mapping[str, Any], Shape], Mapping[str, Any]]
"""A function ``provider(inputs, shape) -> outputs``; the outputs have the names of those of the kernel's reference."""

NAMES = ("triton", "tuned", "torch", "sdpa", "naive", "aiter", "ck", "vllm")
"""Values of ``--provider``, besides the names of other kernels that solve the same problem."""

_FAMILIES = ("rows", "attention", "packed", "decoding", "gemm", "memory", "xlstm")


def _as_it_is(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return inputs


@dataclass(frozen=True)
class Implementation:
    """A provider's implementation of one problem.

    Attributes:
        call: function from prepared inputs to outputs; only this function is timed.
        config: configuration of the Triton kernel; empty for other providers.
        prepare: function from the problem's inputs to those of ``call``; not timed.
    """

    call: Callable[[Mapping[str, Any]], Mapping[str, Any]]
    config: dict[str, Any]
    prepare: Callable[[Mapping[str, Any]], Mapping[str, Any]] = _as_it_is


def find(kernel: Kernel, provider: str, shape: Shape, gpu: str, overrides: Config) -> Implementation:
    """Return a provider's implementation of a problem.

    Args:
        kernel: kernel whose problem is solved.
        provider: see :data:`NAMES`.
        shape: problem parameters.
        gpu: product or architecture that the configuration is for.
        overrides: knobs on top of the defaults, for Triton.

    Raises:
        NotInstalled: a package is missing.
        KprofError: the provider cannot solve this problem, or does not exist.
    """
    if provider in kernel.alternatives:
        from kprof.targets import library as kernel_library

        other = kernel_library.load(provider)
        return find(other, "triton", shape, gpu, {})
    if provider == "triton":
        if kernel.run is None:
            raise KprofError(f"{kernel.name} has no host wrapper to run it with")
        if kernel.unsupported and (reason := kernel.unsupported(launch_gpu(gpu).arch, shape)):
            raise KprofError(reason)
        config = kernel.configure(gpu, overrides, shape)
        return Implementation(partial(_launched, kernel.run, shape, config), config)
    known = providers(kernel)
    if provider not in known:
        has = ", ".join(("triton", "tuned", *known, *kernel.alternatives))
        raise KprofError(f"{provider} has no implementation of {kernel.name}", hint=f"there are {has}")
    chosen = known[provider]
    if isinstance(chosen, Prepared):
        return Implementation(partial(_named, chosen.run, shape), {}, partial(_named, chosen.prepare, shape))
    return Implementation(partial(_named, chosen, shape), {})


def providers(kernel: Kernel) -> dict[str, Provider]:
    """Return all providers except Triton that can solve a kernel's problem."""
    from importlib import import_module

    found: dict[str, Provider] = {}
    for family in _FAMILIES:
        table = import_module(f"kprof.bench.providers.{family}").PROVIDERS
        found |= table.get(kernel.name, {})
    return {**found, **kernel.providers}


def _launched(
    run: Callable[[Mapping[str, Any], Shape, Config], Any], shape: Shape, config: Config, inputs: Mapping[str, Any]
) -> Mapping[str, Any]:
    outputs: Mapping[str, Any] = run(inputs, shape, config)
    return outputs


def _named(provider: Provider, shape: Shape, inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return provider(inputs, shape)
