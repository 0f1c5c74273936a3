"""Order and cut the candidates of TorchInductor's autotuners by prediction, inside the user's program.

::

    import kprof

    kprof.inductor_prior()

Matrix products use Inductor's own hook, ``config.inductor_choices_class``: candidates are ranked before Inductor
compiles or times any of them, and tiles missing from Inductor's list are added. For pointwise kernels and
reductions, the slow candidates are removed when Inductor is about to time them, because their launch is known then;
this also works with compile workers.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import signature
from itertools import product
from typing import Any

from kprof.errors import KprofError
from kprof.kernel_spec import ELEMENT_TYPES, Tensor
from kprof.tuning.estimate import Estimate
from kprof.tuning.prior_notes import PriorReport, label
from kprof.tuning.ranking import CandidateLaunch, CandidateRanker, CandidateRanking, compiling, element_type, warn
from kprof.version import __version__

_TILES = ((16, 32, 64, 128, 256), (16, 32, 64, 128, 256), (16, 32, 64, 128, 256))
"""Values of BLOCK_M, BLOCK_N and BLOCK_K among which tiles are added."""
_WARPS = (4, 8)
_SHOWN = ("BLOCK_M", "BLOCK_N", "BLOCK_K", "GROUP_M", "num_warps", "num_stages")
_FOR_CUDA = ("launch_cooperative_grid", "launch_pdl", "enable_reflect_ftz")
_ALIGNMENT = 16


def inductor_prior(
    top_k: int = 4,
    arch: str | None = None,
    *,
    add: int = 4,
    certainty: float = 0.95,
    budget: float = 60.0,
    jobs: int | None = None,
) -> "InductorPrior":
    """Let TorchInductor's autotuners time only the candidates that are predicted to be fastest.

    Call it once, before the first ``torch.compile``. Candidates that cannot be launched are dropped, candidates that
    cannot be judged are kept, and libraries such as hipBLASLt keep their positions. Later errors are not raised into
    the program: if a ranking fails, one warning is issued and all candidates are kept.

    Args:
        top_k: maximum number of candidates with a prediction to time.
        arch: architecture or product, ``gfx942`` or ``MI300X``; by default the GPU of this process.
        add: number of tiles to add to the list for a product.
        certainty: certainty with which a candidate must be slower than the first one to be dropped before ``top_k``.
        budget: seconds for each ranking after which no further compile starts.
        jobs: number of compiling processes; one per CPU by default.

    Returns:
        The prior, whose ``remove()`` restores Inductor.

    Raises:
        KprofError: if torch is not installed, or is too old.
    """
    if top_k < 1 or add < 0:
        raise KprofError(f"inductor_prior needs top_k of at least 1 and add of at least 0, got {top_k} and {add}")
    prior = InductorPrior(top_k, add, CandidateRanker(arch, budget, jobs, certainty), (arch, certainty))
    if not compiling():
        prior.install()
    return prior


@dataclass
class InductorPrior:
    """The prior that :func:`inductor_prior` installs.

    Attributes:
        top_k: see :func:`inductor_prior`.
        add: see :func:`inductor_prior`.
        ranker: the engine.
        identity: other parameters that the choice depends on.
    """

    top_k: int
    add: int
    ranker: CandidateRanker
    identity: tuple[Any, ...] = ()
    _restore: list[Callable[[], None]] = field(default_factory=list)

    def install(self) -> None:
        """Hook into Inductor.

        Raises:
            KprofError: see :func:`inductor_prior`.
        """
        try:
            from torch._inductor import config
            from torch._inductor.choices import InductorChoices
            from torch._inductor.runtime.triton_heuristics import CachingAutotuner
        except ImportError as error:
            raise KprofError(f"inductor_prior needs torch: {error}") from None
        if not hasattr(config, "inductor_choices_class") or not hasattr(InductorChoices, "_finalize_template_configs"):
            raise KprofError("inductor_prior needs torch 2.13 or newer, whose Inductor accepts a class of choices")
        before: Any = config.inductor_choices_class
        choices_type: Any = InductorChoices if before is None else type(before())
        changes: list[tuple[Any, str, Any]] = [
            (config, "inductor_choices_class", _choices_class(self, choices_type)),
            (CachingAutotuner, "benchmark_all_configs", _benchmark(self, CachingAutotuner.benchmark_all_configs)),
        ]
        for owner, name, value in changes:
            old = getattr(owner, name)
            setattr(owner, name, value)
            self._restore.append(lambda owner=owner, name=name, old=old: setattr(owner, name, old))  # type: ignore[misc]
        _forget_choices()

    def remove(self) -> None:
        """Restore Inductor."""
        while self._restore:
            self._restore.pop()()
        _forget_choices()

    def uuid(self) -> bytes:
        """Return the identity of this prior for Inductor's caches."""
        return f"kprof {__version__} {self.top_k} {self.add} {self.identity}".encode()

    def products(self, choices: Sequence[Any], operation: str) -> list[Any]:
        """Return Inductor's choices for a product in predicted order, without the slow ones and with added tiles."""
        places = [i for i, one in enumerate(choices) if _is_tile(one)]
        if not places:
            return list(choices)
        templates = [choices[i] for i in places]
        added = self._added(templates)
        candidates = [*templates, *added]
        _fix_layouts(candidates)
        ranking = self.ranker.rank([_or_error(template_launch, one) for one in candidates])
        kept = self._kept_candidates("a product", ranking)
        if kept is None:
            return list(choices)
        kept = [i for i in kept if i < len(templates) or i in ranking.costs]
        labels = [_tile_label(one) for one in candidates]
        new = range(len(templates), len(candidates))
        PriorReport(operation, self.ranker.target, ranking, labels, kept, new).publish()
        before = [one for i, one in enumerate(choices) if i not in places and i < places[0]]
        behind = [one for i, one in enumerate(choices) if i not in places and i > places[0]]
        return [*before, *(candidates[i] for i in kept), *behind]

    def launchers(self, tuner: Any, args: Sequence[Any]) -> list[Any]:
        """Return the launchers of Inductor's ``CachingAutotuner`` to time, in predicted order, without slow ones."""
        launchers = list(tuner.launchers)
        if len(launchers) < 2:
            return launchers
        ranking = self.ranker.rank([_or_error(tuner_launch, tuner, one.config, args) for one in launchers])
        kept = self._kept_candidates(tuner.fn.__name__, ranking)
        if kept is None:
            return launchers
        labels = [label({**one.config.kwargs, "num_warps": one.config.num_warps}) for one in launchers]
        PriorReport(tuner.fn.__name__, self.ranker.target, ranking, labels, kept).publish()
        return [launchers[i] for i in kept]

    def _kept_candidates(self, name: str, ranking: CandidateRanking) -> list[int] | None:
        if not ranking.order:
            warn("inductor_prior", f"{name}: {ranking.problem}", "no candidate has a prediction, so all are kept")
            return None
        return ranking.to_time(self.top_k)

    def _added(self, templates: Sequence[Any]) -> list[Any]:
        """Return choices with tiles that the list lacks, the most promising by a rough estimate."""
        first = templates[0]
        sizes = _sizes(first)
        if self.add == 0 or sizes is None:
            return []
        known = {_tile(one) for one in templates}
        own = first.params.to_kwargs()
        element = ELEMENT_TYPES[element_type(first.inputs.nodes()[0].get_dtype())].size
        rough = Estimate(*self.ranker.gpu, dict(zip("MNK", sizes, strict=True)), element)
        new = [
            {**own, **dict(zip(_SHOWN[:3], tile, strict=True)), "num_warps": warps, "EVEN_K": sizes[2] % tile[2] == 0}
            for tile in product(*_TILES)
            for warps in _WARPS
            if (*tile, warps) not in known and all(t <= max(16, s) for t, s in zip(tile, sizes, strict=True))
        ]
        new.sort(key=rough.cost)
        return [_with(first, knobs) for knobs in new[: self.add]]


def _choices_class(prior: InductorPrior, base: Any) -> Any:
    """Return a class of Inductor's choices that asks the prior."""

    class PriorChoices(base):  # type: ignore[misc]
        """Choices of Inductor in predicted order, without the slow ones."""

        def _finalize_template_configs(self, *args: Any, **kwargs: Any) -> Any:
            choices = super()._finalize_template_configs(*args, **kwargs)
            operation = kwargs.get("op_name") or (args[3] if len(args) > 3 else "a product")
            try:
                return prior.products(choices, str(operation))
            except Exception as error:  # noqa: BLE001 - the user's program must continue after any error
                warn("inductor_prior", error, "every candidate is kept")
                return choices

        def uuid(self) -> bytes:
            """Return the identity for Inductor's caches."""
            other = super().uuid() if hasattr(super(), "uuid") else b""
            return prior.uuid() + bytes(other)

    return PriorChoices


def _benchmark(prior: InductorPrior, original: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap Inductor's function that times a kernel's configurations; it then times only those that the prior keeps."""

    def benchmark_all_configs(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            kept = prior.launchers(self, args)
            if hasattr(self, "_close_static_launcher"):  # torch 2.11 has no such function.
                for launcher in [one for one in self.launchers if one not in kept]:
                    self._close_static_launcher(launcher)
            self.launchers = kept
        except Exception as error:  # noqa: BLE001 - the user's program must continue after any error
            warn("inductor_prior", error, "every candidate is kept")
        return original(self, *args, **kwargs)

    return benchmark_all_configs


def template_launch(choice: Any) -> CandidateLaunch:
    """Return the launch of one of Inductor's template choices. Inductor writes its code, but does not compile it.

    Raises:
        KprofError: if the template does not accept the configuration.
    """
    from torch._inductor.codecache import PyCodeCache

    caller = choice.choice
    request = getattr(caller, "bmreq", None)
    if request is None:
        raise KprofError("Inductor's template does not accept this configuration")
    load = PyCodeCache.load_by_key_path
    quiet: dict[str, Any] = {"set_sys_modules": False} if "set_sys_modules" in signature(load).parameters else {}
    module = load(request.module_cache_key, request.module_path, **quiet)
    tuner = getattr(module, request.kernel_name)
    inputs, output = request.input_tensor_meta, request.output_tensor_meta
    tensors = [*_listed(inputs), *_listed(output)]
    args = [*(Tensor(element_type(one.dtype), tuple(map(int, one.sizes))) for one in tensors), *request.extra_args]
    return tuner_launch(tuner, tuner.configs[0], args)


def tuner_launch(tuner: Any, config: Any, args: Sequence[Any]) -> CandidateLaunch:
    """Return the launch of one configuration of Inductor's ``CachingAutotuner``.

    Args:
        tuner: the autotuner.
        config: the configuration.
        args: positional arguments of its ``run``: tensors or their descriptions, and numbers.
    """
    meta = tuner._create_compile_meta(config)  # noqa: SLF001 - no public way
    options = tuner._create_compile_options(config, meta)  # noqa: SLF001
    given, grid = tuner._interpret_args_grid(tuple(args), config)  # noqa: SLF001
    names = [parameter.name for parameter in tuner.fn.params if not parameter.is_constexpr]
    constants = {str(name): value for name, value in meta["constants"].items()}
    knobs = {**constants, **{name: value for name, value in options.items() if name not in _FOR_CUDA}}
    values = dict(zip(names, given, strict=False))
    return CandidateLaunch(tuner.fn, knobs, values, tuple(int(size) for size in grid))


def _or_error(launch: Callable[..., CandidateLaunch], *args: Any) -> CandidateLaunch | KprofError:
    try:
        return launch(*args)
    except KprofError as error:
        return error
    except Exception as error:  # noqa: BLE001 - Inductor's own functions, whose form differs between versions
        return KprofError(f"{type(error).__name__}: {error}".splitlines()[0])


def _listed(meta: Any) -> list[Any]:
    return list(meta) if isinstance(meta, list | tuple) else [meta]


def _is_tile(choice: Any) -> bool:
    """Whether a choice is a template with a tile, and not a library."""
    knobs = _knobs(choice)
    return all(name in knobs for name in _SHOWN[:3])


def _knobs(choice: Any) -> Mapping[str, Any]:
    params: Any = getattr(choice, "params", None)
    return params.to_kwargs() if hasattr(params, "to_kwargs") else {}


def _tile(choice: Any) -> tuple[Any, ...]:
    knobs = _knobs(choice)
    return tuple(knobs.get(name) for name in (*_SHOWN[:3], "num_warps"))


def _tile_label(choice: Any) -> str:
    knobs = _knobs(choice)
    return label({name: knobs[name] for name in _SHOWN if name in knobs})


def _with(choice: Any, knobs: Mapping[str, Any]) -> Any:
    """Return a copy of a choice with other knobs."""
    return type(choice)(
        template=choice.template,
        params=type(choice.params)(dict(knobs)),
        extra_kwargs=choice.extra_kwargs,
        layout=choice.layout,
        inputs=choice.inputs,
    )


def _sizes(choice: Any) -> tuple[int, int, int] | None:
    """Return M, N and K of a product; ``None`` if they are not known."""
    try:
        m, n, k = choice.inputs.mnk_hinted()
        return int(m), int(n), int(k)
    except (AttributeError, TypeError, ValueError):
        return None


def _fix_layouts(choices: Sequence[Any]) -> None:
    """Set each choice's output layout to the one that Inductor uses when it generates the choice's code."""
    for choice in choices:
        choice.layout = choice.inputs.output_layout(flexible=False)


def _forget_choices() -> None:
    """Let Inductor create its choices anew, because it keeps them for each thread."""
    from torch._inductor import virtualized

    key = virtualized._choices._key  # noqa: SLF001 - no public way
    if hasattr(virtualized.threadlocal, key):
        delattr(virtualized.threadlocal, key)
