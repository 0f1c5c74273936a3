"""Other bundled kernels as candidates for a problem, each with the predicted time of all its launches.

A kernel's ``alternatives`` have the same parameters and inputs as the kernel. The kernels in ``_FORMS`` have other
parameters. Each function in ``_FORMS`` converts a problem of the requested kernel into a problem of the other kernel,
or returns the reason why the other kernel cannot solve it. A kernel that solves the problem on inputs of another type
or layout is an :class:`OtherInputs`: it is predicted for comparison and never chosen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kprof.condition import WARM
from kprof.errors import KprofError
from kprof.kernel_spec import Kernel, Shape
from kprof.tuning.candidates import Candidate
from kprof.tuning.choice.model import ConsideredImplementation
from kprof.tuning.evaluation import Evaluation
from kprof.tuning.problems import Problem
from kprof.tuning.subject import KernelSubject
from kprof.tuning.work import Judge, TaskResult, TuningTask, task_of

if TYPE_CHECKING:
    from kprof.hardware.machine import Architecture, Product


@dataclass(frozen=True)
class OtherInputs:
    """A problem of another kernel that computes the same from inputs of another type or layout.

    Attributes:
        shape: the problem in the other kernel's parameters.
        needs: the inputs that the other kernel needs, for example ``V stored transposed``.
    """

    shape: dict[str, Any]
    needs: str


Form = Callable[[Shape], dict[str, Any] | str | OtherInputs]
_PRODUCT = ("M", "N", "K", "dtype", "out")
_ATTENTION = ("B", "H", "HK", "SQ", "SK", "D", "causal", "dtype")
_UNMASKED = ("B", "H", "HK", "SQ", "SK", "D", "dtype")
SKINNY_ROWS = 32
"""Maximum number of rows for which the skinny product is designed."""
TINY_ROWS = 8
"""Maximum number of rows for which a product without matrix instructions is considered."""
_NOT_PREDICTED = "not predicted"
_GUESSED = ("iterations assumed", "which tiles workgroups share is not known")


def bundled(
    kernel: Kernel, shape: Shape, arch: str, product: str = ""
) -> list[tuple[Kernel, ConsideredImplementation]]:
    """Return every bundled kernel for the problem, with its default configuration or the reason why it cannot be used.

    The candidates have no times yet.

    Args:
        kernel: the requested kernel.
        shape: problem parameters.
        arch: architecture.
        product: the GPU, whose number of CUs determines the launches; "" for the architecture's first product.
    """
    from msgspec.structs import replace

    from kprof.tuning.choice.kernels import load

    gpu = product or arch
    found = [_candidate(kernel, dict(shape), arch, gpu, own=True)]
    found += [_candidate(load(name), dict(shape), arch, gpu, own=True) for name in kernel.alternatives]
    for name, form in forms(kernel.name).items():
        problem = form(shape)
        if isinstance(problem, str):
            found.append((load(name), ConsideredImplementation(name, "unknown", reason=problem, usable=False)))
        elif isinstance(problem, OtherInputs):
            other, candidate = _candidate(load(name), problem.shape, arch, gpu, own=False)
            found.append((other, replace(candidate, needs=problem.needs)))
        else:
            found.append(_candidate(load(name), problem, arch, gpu, own=False))
    return found


def _candidate(
    kernel: Kernel, shape: dict[str, Any], arch: str, gpu: str, *, own: bool
) -> tuple[Kernel, ConsideredImplementation]:
    said = {} if own else shape
    try:
        problem = cannot(kernel, shape, arch)
        config = {} if problem is not None else kernel.configure(gpu, None, shape)
        problem = problem or illegal(kernel, config, shape, arch)
    except KprofError as error:
        problem, config = error.message, {}
    if problem is not None:
        return kernel, ConsideredImplementation(kernel.name, "unknown", shape=said, reason=problem, usable=False)
    return kernel, ConsideredImplementation(kernel.name, "unknown", config=config, shape=said, reason=_NOT_PREDICTED)


def cannot(kernel: Kernel, shape: Shape, arch: str) -> str | None:
    """Return the reason why a kernel does not support a problem on an architecture, or None."""
    return kernel.unsupported(arch, shape) if kernel.unsupported else None


def illegal(kernel: Kernel, config: Mapping[str, Any], shape: Shape, arch: str) -> str | None:
    """Return the reason why a configuration is not legal for a problem, or None."""
    return kernel.legal(shape, config, arch) if kernel.legal else None


def predicted(
    candidates: Sequence[tuple[Kernel, ConsideredImplementation]],
    shape: Shape,
    machine: "Architecture",
    product: "Product | None",
    condition: str = WARM.name,
) -> list[ConsideredImplementation]:
    """Return the candidates with predicted times, in the same order; candidates without a time get the reason.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    return predictions([(candidates, shape)], machine, product, condition=condition)[0]


def predictions(
    problems: Iterable[tuple[Sequence[tuple[Kernel, ConsideredImplementation]], Shape]],
    machine: "Architecture",
    product: "Product | None",
    workers: int | None = None,
    condition: str = WARM.name,
) -> list[list[ConsideredImplementation]]:
    """Predict the candidates of many problems at once. ``workers`` is the number of processes; ``None``: one per CPU.

    Raises:
        KprofError: if no usable Triton is installed.
    """
    from kprof.deadline import Deadline
    from kprof.tuning.executors.local import judged
    from kprof.tuning.trials.predicted import FUNCTION, version

    judge = Judge(FUNCTION, version())
    target = product.name if product is not None else machine.name
    tasks: dict[str, TuningTask] = {}
    asked = [
        [
            (
                one,
                _with_tasks(
                    KernelSubject(
                        kernel, machine, product, (Problem(kernel.name, one.shape or shape),), condition=condition
                    ),
                    one,
                    tasks,
                    judge,
                ),
            )
            for kernel, one in candidates
        ]
        for candidates, shape in problems
    ]
    answers = judged(tasks.values(), judge, Deadline(None), workers=workers or 0) if tasks else {}
    return [
        [one if isinstance(made, str) else _timed(one, made.score(answers), target) for one, made in problem]
        for problem in asked
    ]


def _with_tasks(
    subject: KernelSubject, candidate: ConsideredImplementation, tasks: dict[str, TuningTask], judge: Judge
) -> Candidate | str:
    """Add the compile tasks of a candidate to ``tasks``. Return the candidate, or the reason why it has no tasks."""
    if not candidate.usable:
        return candidate.reason
    problem = subject.problems[0]
    try:
        jobs = subject.jobs(problem, candidate.config)
    except KprofError as error:
        return error.message
    target = (subject.product or subject.arch).name
    work, files = subject.flops(problem), subject.dependencies()
    made = [
        task_of(job, candidate.config, target, judge, files, flops=None if number else work)
        for number, job in enumerate(jobs)
    ]
    tasks.update((task.key, task) for task in made)
    return Candidate(0, problem, candidate.config, tuple(job.name for job in jobs), tuple(task.key for task in made))


def _timed(
    candidate: ConsideredImplementation, score: Evaluation | TaskResult, target: str
) -> ConsideredImplementation:
    from msgspec.structs import replace

    if isinstance(score, TaskResult):
        return replace(candidate, reason=score.reason or score.status)
    if guess := next((said for said in score.assumptions if any(word in said for word in _GUESSED)), None):
        return replace(candidate, reason=f"{_NOT_PREDICTED}: {guess}")
    if score.time_us is None or score.low_us is None or score.high_us is None:
        return replace(candidate, reason=f"{_NOT_PREDICTED}: {', '.join(score.assumptions[:1])}")
    parts = "".join(f", with {name.rpartition('::')[2]}" for name in score.parts)
    return replace(
        candidate,
        basis="predicted",
        ms=round(score.time_us / 1000, 6),
        low_ms=round(score.low_us / 1000, 6),
        high_ms=round(score.high_us / 1000, 6),
        bound=score.bound,
        reason=f"by the model for {target}{parts}; {score.bound}"
        if score.bound
        else f"by the model for {target}{parts}",
    )


def forms(kernel: str) -> Mapping[str, Form]:
    """Return the kernels that solve the same problem with other parameters, each with the function that converts it."""
    return _FORMS.get(kernel, {})


def _only(shape: Shape, names: tuple[str, ...], **more: Any) -> dict[str, Any]:
    return {name: shape[name] for name in names} | more


def _only_gemm_reason(shape: Shape) -> str | None:
    """Return the reason why only ``gemm`` supports a problem, or None."""
    if shape["trans_a"]:
        return "it needs A stored by rows (trans_a=False)"
    return "it needs rows without padding (pad=0)" if shape["pad"] else None


def _stream_k(shape: Shape) -> dict[str, Any] | str:
    return _only_gemm_reason(shape) or _only(shape, _PRODUCT, bias=shape["bias"], trans_b=shape["trans_b"])


def _skinny(shape: Shape) -> dict[str, Any] | str:
    if not shape["dtype"].startswith("fp8"):
        return f"multiplies 8-bit floats, not {shape['dtype']}"
    if shape["M"] > SKINNY_ROWS:
        return f"made for at most {SKINNY_ROWS} rows"
    if not shape["trans_b"]:
        return "it needs B stored along K (trans_b=True)"
    return _only_gemm_reason(shape) or (
        "it adds no bias" if shape["bias"] else _only(shape, _PRODUCT, per_channel=False)
    )


def _multiply_reduce(shape: Shape) -> dict[str, Any] | str:
    if shape["M"] > TINY_ROWS:
        return f"made for at most {TINY_ROWS} rows: it does not use the matrix instructions"
    if not shape.get("trans_b", True):
        return "it needs B stored along K (trans_b=True)"
    return _only_gemm_reason({"trans_a": False, "pad": 0, **shape}) or _only(shape, _PRODUCT, bias=shape["bias"])


def _gemm(shape: Shape) -> dict[str, Any] | str:
    return _only(shape, _PRODUCT, bias=shape["bias"], trans_a=False, trans_b=shape.get("trans_b", True), pad=0)


def _heads_first(shape: Shape) -> str | None:
    if shape.get("layout", "bhsd") != "bhsd":
        return "it needs heads before the sequence (layout=bhsd)"
    return None


def _extras(shape: Shape) -> str | None:
    """Return a sentence about requested features that only ``flash_attention`` has; None if there are none."""
    used = [name for name in ("window", "sinks", "dropout") if shape.get(name)]
    return f"only flash_attention has {' and '.join(used)}" if used else None


def _persistent(shape: Shape) -> dict[str, Any] | str:
    return _extras(shape) or _heads_first(shape) or _only(shape, _ATTENTION)


def _transposed_v(shape: Shape) -> OtherInputs | str:
    return _extras(shape) or OtherInputs(_only(shape, _ATTENTION), "V stored transposed")


def _lean(shape: Shape) -> OtherInputs | str:
    return _no_masks(shape) or OtherInputs(_only(shape, _UNMASKED), "V stored transposed")


def _lean_on_same_v(shape: Shape) -> dict[str, Any] | str:
    return _no_masks(shape) or _only(shape, _UNMASKED)


def _no_masks(shape: Shape) -> str | None:
    return _extras(shape) or ("it has no causal mask" if shape["causal"] else None)


def _plain_attention(needs: str) -> Form:
    """Return the form of ``flash_attention`` for a kernel with inputs of another type or layout."""

    def form(shape: Shape) -> OtherInputs:
        dtype = shape.get("out", shape["dtype"])
        return OtherInputs(_forward({"causal": False, **shape, "dtype": dtype}), needs)

    return form


def _plain_decoding(needs: str) -> Form:
    """Return the form of ``flash_decoding`` for a kernel with another key and value cache."""
    return lambda shape: OtherInputs(_only(shape, ("B", "H", "HK", "N", "D", "ragged", "dtype")), needs)


def _plain_weights(shape: Shape) -> OtherInputs:
    layout = {"bias": False, "trans_a": False, "trans_b": True, "pad": 0}
    problem = _only(shape, ("M", "N", "K", "dtype"), out=shape["dtype"], **layout)
    return OtherInputs(problem, "16-bit weights")


def _packed(shape: Shape) -> dict[str, Any] | str:
    if _extras(shape) or shape.get("layout") != "bshd":
        return _extras(shape) or "it needs the sequence before the heads (layout=bshd)"
    return _only(shape, _ATTENTION, lengths="equal", alibi=False, bias=False)


def _decoding(shape: Shape) -> dict[str, Any] | str:
    if shape["SQ"] != 1:
        return "made for one query per sequence"
    if _extras(shape) or shape.get("layout") != "bshd":
        return _extras(shape) or "it needs the sequence before the heads (layout=bshd)"
    return _only(shape, ("B", "H", "HK", "D", "dtype"), N=shape["SK"], ragged=False)


def _forward(shape: Shape) -> dict[str, Any]:
    return _only(shape, _ATTENTION, layout="bhsd", lse=False, window=0, sinks=False, dropout=0.0)


_FORMS: Mapping[str, Mapping[str, Form]] = {
    "gemm": {"gemm_streamk": _stream_k, "gemm_skinny_fp8": _skinny, "gemm_multiply_reduce": _multiply_reduce},
    "gemm_streamk": {"gemm": _gemm, "gemm_multiply_reduce": _multiply_reduce},
    "gemm_multiply_reduce": {"gemm": _gemm},
    "flash_attention": {
        "attention_persistent": _persistent,
        "attention_varlen": _packed,
        "flash_decoding": _decoding,
        "attention_transposed_v": _transposed_v,
        "attention_lean": _lean,
    },
    "attention_persistent": {"flash_attention": _forward, "attention_transposed_v": _transposed_v},
    "attention_transposed_v": {
        "attention_lean": _lean_on_same_v,
        "flash_attention": _plain_attention("V stored by tokens"),
    },
    "attention_lean": {
        "attention_transposed_v": lambda shape: _only(shape, _UNMASKED, causal=False),
        "flash_attention": _plain_attention("V stored by tokens"),
    },
    "attention_int8": {"flash_attention": _plain_attention("16-bit queries, keys and values")},
    "attention_fp8": {"flash_attention": _plain_attention("16-bit queries, keys and values")},
    "flash_decoding_int4": {"flash_decoding": _plain_decoding("a 16-bit key and value cache")},
    "paged_decoding": {"flash_decoding": _plain_decoding("a key and value cache without pages")},
    "gemm_w4a16_splitk": {"gemm": _plain_weights},
}
