"""The package's kernel that each stand-in represents, and the result of each requested kernel."""

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING, Any

from kprof.errors import KprofError
from validation.benchmarks.model.compiling import GIVEN, Point, kernel_of
from validation.benchmarks.model.evaluate import points_of
from validation.benchmarks.model.problem import Candidate, Family, Problem
from validation.benchmarks.model.real import inductor, launches
from validation.benchmarks.model.real.packages import Package

if TYPE_CHECKING:
    from kprof.importing.functions import Function
    from kprof.kernel_spec import Config, Kernel, Launch, Shape
    from validation.benchmarks.model.data import Row

_Launch = Callable[["Shape", "Config", Sequence[str]], "Launch | None"]
_MAMBA = (("vllm/model_executor/layers/mamba/ops/mamba_ssm.py", "_selective_scan_update_kernel"),)
_BASIC = "aiter/ops/triton/_triton_kernels/gemm/basic"


@dataclass(frozen=True)
class RealKernel:
    """A kernel of a package, and the condition under which it replaces a stand-in.

    Attributes:
        name: our name of more than one word, so that no stand-in has it.
        stand_in: the stand-in that it replaces, see :class:`~validation.benchmarks.model.compiling.Point`.
        package: package that contains it.
        launch: function that returns the package's launch, given the stand-in's shape and configuration and its
            parameters' names; ``None`` if the package does not make this launch.
        known: its name in the servers' registry; empty if ``places`` names it.
        places: files and functions, newest version first.
        when: function that returns whether this kernel was measured for a stand-in's shape.
        numbers: constants of the kernel that become run-time numbers of the launch, as in the stand-in, so that one
            compile serves all their values. Only the numbering of tiles may depend on them.
        plain: whether it is compiled with the compiler's default options, regardless of the configuration.
    """

    name: str
    stand_in: str
    package: str
    launch: _Launch
    known: str = ""
    places: tuple[tuple[str, str], ...] = ()
    when: Callable[["Shape"], bool] = lambda _: True
    numbers: tuple[str, ...] = ()
    plain: bool = False


def _split(scales: str) -> Callable[["Shape"], bool]:
    """Return AITER's Triton families: one product, weights along K, parts of K stored separately."""
    return lambda shape: (
        shape["scales"] == scales and shape["batch"] == 1 and shape["trans_b"] and not shape["atomic"]
        and shape["out"] == "bf16"
    )  # fmt: skip


_SUM = (("aiter/ops/triton/_triton_kernels/common/splitk_reduce.py", "_gemm_splitk_reduce_kernel"),)
REAL = (
    RealKernel("vllm fused MoE", "fused_moe", "vllm", launches.fused_moe, "fused MoE", numbers=("GROUP_SIZE_M",)),
    RealKernel("sglang fused MoE", "fused_moe", "sglang", launches.fused_moe, "fused MoE", numbers=("GROUP_SIZE_M",)),
    RealKernel("vllm block FP8", "block_fp8", "vllm", launches.block_fp8, "block FP8", numbers=("GROUP_SIZE_M",)),
    RealKernel("sglang block FP8", "block_fp8", "sglang", launches.block_fp8, "block FP8", numbers=("GROUP_SIZE_M",)),
    RealKernel("vllm state update", "state_update", "vllm", launches.state_update, places=_MAMBA),
    RealKernel("aiter A16W16", "gemm_split", "aiter", launches.aiter_product, "GEMM-A16W16", when=_split("none")),
    RealKernel("aiter A8W8", "gemm_split", "aiter", launches.aiter_product, "GEMM-A8W8", when=_split("rows")),
    RealKernel(
        "aiter A8W8_BLOCKSCALE", "gemm_split", "aiter", launches.aiter_product, "GEMM-A8W8_BLOCKSCALE",
        when=_split("blocks"),
    ),
    RealKernel(
        "aiter AFP4WFP4", "gemm_fp4", "aiter", launches.aiter_fp4,
        places=((f"{_BASIC}/gemm_afp4wfp4.py", "_gemm_afp4wfp4_kernel"),),
    ),
    RealKernel(
        "aiter attention", "flash_attention", "aiter", launches.aiter_attention,
        places=(("aiter/ops/triton/_triton_kernels/attention/mha.py", "_attn_fwd"),),
        when=lambda shape: shape["layout"] == "bshd",
    ),
    RealKernel(
        "perf-kernels tune_gemm", "tune_gemm", "perf-kernels", launches.tune_gemm,
        places=(("python/perf-kernels/tools/tune_gemm/matmul_kernel.py", "matmul_kernel"),),
    ),
    RealKernel(
        "perf-kernels stream-K", "streamk", "perf-kernels", launches.streamk,
        places=(("python/perf-kernels/streamk/streamk_kernel.py", "streamk_gemm"),),
    ),
    RealKernel(
        "tritonBLAS persistent", "tritonblas", "tritonblas", launches.tritonblas,
        places=(("tritonblas/kernels/persistent_gemm_work_stealing.py", "ws_persistent_matmul"),),
    ),
    RealKernel(
        "aiter sum", "gemm_split::reduce", "aiter", launches.aiter_sum, places=_SUM, plain=True,
        when=lambda shape: shape["dtype"] != "fp4" and _split(shape["scales"])(shape),
    ),
    RealKernel(
        "aiter fp4 sum", "gemm_split::reduce", "aiter", launches.aiter_fp4_sum, places=_SUM, plain=True,
        when=lambda shape: shape["dtype"] == "fp4",
    ),
)  # fmt: skip
"""Every kernel that the benchmark uses from a package."""
_BY_NAME = {real.name: real for real in REAL}
_INDUCTOR = frozenset(inductor.STAND_INS)


@dataclass
class Used:
    """The real kernels that a family uses.

    Attributes:
        kernels: packages' kernels in its problems, by our names.
        packages: their packages, in words.
        refused: one sentence for each requested kernel that is not used.
        stand_ins: the problems and configurations with the stand-ins.
        problems: names of the problems with real kernels.
    """

    kernels: tuple[str, ...]
    packages: tuple[str, ...]
    refused: tuple[str, ...]
    stand_ins: list[Problem]
    problems: frozenset[str]


@dataclass
class RealKernels:
    """The kernels of the named packages.

    Attributes:
        packages: packages by name.
        loaded: kernels read so far, by our name.
        refused: reason why a kernel could not be used, by our name.
        used: real kernels by family.
        lost: problems by family whose real kernel does not compile with their Triton, so they keep the stand-in.
    """

    packages: Mapping[str, Package]
    loaded: "dict[str, Kernel]" = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    used: dict[str, Used] = field(default_factory=dict)
    lost: dict[str, frozenset[str]] = field(default_factory=dict)
    _written: dict[str, str | KprofError] = field(default_factory=dict)

    def family(self, family: Family) -> Family:
        """Return the family with the measured kernel in all problems for which a package has it."""
        chosen = [name for name in family.packages if name in self.packages]
        if not chosen:
            return family

        def problems(rows: "Sequence[Row]", quick: bool) -> list[Problem]:
            given = family.problems(rows, quick)
            return self.swapped(replace(family, packages=tuple(chosen)), given)

        return replace(family, problems=problems)

    def swapped(self, family: Family, problems: Sequence[Problem]) -> list[Problem]:
        """Return problems with the real kernel in each launch that has one, and record them in :attr:`used`.

        A candidate keeps its stand-ins if one launch has no real kernel, because a sum of both kinds would be
        meaningless. A problem keeps them if one candidate has none, because the order would compare two kernels.
        """
        drawn = [_drawn(problem, family.drawn) for problem in problems]
        self._write(family, drawn)
        found, kept, taken = [], [], set()
        kernels: dict[str, None] = {}
        for full, problem in zip(problems, drawn, strict=True):
            points = [self._points(family, candidate) for candidate in problem.candidates]
            if not all(points) or problem.name in self.lost.get(family.name, ()):
                found.append(full)
                kept.append(full)
                continue
            kernels |= dict.fromkeys(point.kernel for each in points for point in each)
            pairs = zip(problem.candidates, points, strict=True)
            found.append(replace(problem, candidates=tuple(replace(one, points=each) for one, each in pairs)))
            kept.append(problem)
            taken.add(problem.name)
        GIVEN.update(self.loaded)
        words = dict.fromkeys(self.packages[_BY_NAME[name].package if name in _BY_NAME else "torch"].words
                              for name in kernels)  # fmt: skip
        asked = [each.name for each in REAL if each.package in family.packages]
        asked += [inductor.STAND_INS[0]] if "torch" in family.packages else []
        refused = tuple(f"{name}: {self.refused[name]}" for name in asked if name in self.refused)
        names = dict.fromkeys(name.partition(" ")[0] if name not in _BY_NAME else name for name in kernels)
        self.used[family.name] = Used(tuple(names), tuple(words), refused, kept, frozenset(taken))
        return found

    def of(self, family: Family, point: Point) -> RealKernel | None:
        """Return the real kernel of a stand-in's launch; ``None`` if no package of the family has it."""
        for package in (name for name in family.packages if name in self.packages):
            for each in REAL:
                fits = (each.stand_in, each.package) == (point.kernel, package) and each.when(point.shape)
                if fits and self._load(each):
                    return each
        return None

    def _load(self, real: RealKernel) -> bool:
        if real.name not in self.loaded and real.name not in self.refused:
            try:
                self.loaded[real.name] = kernel(real, self.packages[real.package])
            except KprofError as error:
                self.refused[real.name] = error.message
        return real.name in self.loaded

    def _write(self, family: Family, problems: Sequence[Problem]) -> None:
        """Let Inductor write the kernels of all launches at once, because its import takes longer than that."""
        if "torch" not in family.packages or "torch" not in self.packages:
            return
        every = dict.fromkeys(json.dumps(inductor.asked(p)) for p in points_of(problems) if p.kernel in _INDUCTOR)
        new = [key for key in every if key not in self._written]
        try:
            answers = inductor.written(self.packages["torch"], [json.loads(key) for key in new]) if new else []
        except KprofError as error:
            answers = [error] * len(new)
        self._written.update(zip(new, answers, strict=True))

    def _inductor(self, point: Point) -> Point | None:
        """Return a row's launch with the kernel that Inductor wrote for it."""
        text = self._written.get(json.dumps(inductor.asked(point)))
        try:
            if isinstance(text, KprofError):
                raise text
            made = inductor.kernel(point, text) if text is not None else None
        except KprofError as error:
            self.refused.setdefault(inductor.STAND_INS[0], error.message)
            return None
        if made is None:
            return None
        self.loaded[made.name] = made
        return replace(point, kernel=made.name)

    def _points(self, family: Family, candidate: Candidate) -> tuple[Point, ...]:
        """Return the launches of a candidate with real kernels; empty if one has none."""
        found = []
        for point in candidate.points:
            if point.kernel in _INDUCTOR:
                if (written := self._inductor(point)) is None:
                    return ()
                found.append(written)
                continue
            real = self.of(family, point)
            if real is None:
                return ()
            swapped = _swapped(real, point)
            made = self.loaded[real.name]
            try:
                launch = real.launch(swapped.shape, made.configure("", swapped.config), self._names(real))
            except KprofError as error:
                # Another version may have unknown parameters.
                self.refused.setdefault(real.name, error.message)
                return ()
            if launch is not None:
                found.append(swapped)
        return tuple(found)

    def _names(self, real: RealKernel) -> list[str]:
        from kprof.importing.functions import unwrap

        function = unwrap(self.loaded[real.name].entry)
        assert function is not None
        return _asked(function)


def _drawn(problem: Problem, most: int | None) -> Problem:
    """Return a problem with its winners and a sample of its other configurations, equal at every call."""
    others = [one for one in problem.candidates if not one.winner]
    if most is None or len(others) <= most:
        return problem
    kept = {id(one) for one in Random(problem.name).sample(others, most)}
    return replace(problem, candidates=tuple(one for one in problem.candidates if one.winner or id(one) in kept))


def _swapped(real: RealKernel, point: Point) -> Point:
    from kprof.hardware.machine import products
    from kprof.kernel_spec import BACKEND_OPTIONS

    config = {k: v for k, v in point.config.items() if not (real.plain and k in BACKEND_OPTIONS)}
    shape = {**point.shape, "arch": products()[point.product]}
    return replace(point, kernel=real.name, shape=shape, config=config, contents=(), arguments=(), grid=None)


def kernel(real: RealKernel, package: Package) -> "Kernel":
    """Return the kernel in the form that the benchmark compiles.

    Raises:
        KprofError: the package has no such file or function, or it cannot be read.
    """
    from kprof.importing.functions import find_entry, unwrap
    from kprof.importing.loading import load_module
    from kprof.kernel_spec import Launch
    from kprof.targets.sizes import by_heuristics
    from kprof_servers.served.kernel_source import written
    from kprof_servers.served.registry import SERVERS

    places = real.places or SERVERS[real.package].kernels[real.known]
    text, function = source(package, places)
    path = written(with_numbers(text, function, real.numbers), function.strip("_"))
    entry = find_entry(load_module(path), path, function)
    found = unwrap(entry, path=path, name=function)
    assert found is not None
    names = _asked(found)

    def launch(shape: "Shape", config: "Config") -> "Launch":
        made = real.launch(shape, config, names)
        if made is None:
            raise KprofError(f"{real.name} is not launched for this")
        args = dict(made.args)
        return Launch({**args, **by_heuristics(entry, args)}, made.grid)

    stand_in = kernel_of(real.stand_in)
    config: Mapping[str, Any] = {} if real.plain else stand_in.config
    return replace(stand_in, name=real.name, entry=entry, launch=launch, config=config, parts={})


def _asked(function: "Function") -> list[str]:
    """Return the parameters that a launch passes; heuristics compute the others."""
    return [name for name in function.arguments if name not in function.heuristics]


def source(package: Package, places: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """Return text and name of a package's kernel, from its newest known location.

    Raises:
        KprofError: the kernel is at none of its known locations.
    """
    from kprof_servers.served.kernel_source import cut_text, has_function

    for file, function in places:
        path = package.root / file
        if path.is_file() and has_function(package.root, path, function):
            return cut_text(package.root, path, function), function
    file, function = places[0]
    raise KprofError(f"{package.words} has no {function} in {file}")


def with_numbers(text: str, function: str, names: Sequence[str]) -> str:
    """Return a kernel's file in which some constants are run-time numbers that the compiler does not specialise on.

    Args:
        text: text of the file.
        function: the kernel in it.
        names: the constants to convert.

    Raises:
        KprofError: the kernel has no such constant, or an unsupported decorator.
    """
    if not names:
        return text
    tree = ast.parse(text)
    node = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function)
    chosen = [a for a in (*node.args.args, *node.args.kwonlyargs) if a.arg in names and a.annotation is not None]
    plain = [d for d in node.decorator_list if ast.unparse(d) == "triton.jit"]
    if len(chosen) < len(names) or len(plain) != 1:
        raise KprofError(f"{function} has no constants {', '.join(names)} under a plain @triton.jit")
    lines = text.splitlines()
    for argument in chosen:
        note = argument.annotation
        assert note is not None
        assert note.end_col_offset is not None
        line = lines[note.lineno - 1]
        lines[note.lineno - 1] = line[: argument.col_offset] + argument.arg + line[note.end_col_offset :]
    place = plain[0].lineno - 1
    lines[place] = f"@triton.jit(do_not_specialize={list(names)!r})"
    return "\n".join(lines) + "\n"
