"""Import a file that needs a GPU on a machine without one, to find the kernels that it defines.

Triton and torch report the name and the number of compute units of the analysed GPU as if it were present, but cannot
compute anything on it. A top-level statement that computes with a GPU tensor or launches a kernel is skipped, and so
are statements that depend on its result. Functions that are defined further down are still found.
"""

import __future__

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

from kprof.hardware.default import DEFAULT_GPU
from kprof.simulation.after_import import AfterImport
from kprof.simulation.gpu import HIP_VERSION, gpu_of, torch_properties
from kprof.simulation.patches import Patches


class NoGpuError(RuntimeError):
    """A computation would need a GPU."""


@dataclass
class Missing:
    """Parts of an import that needed a GPU.

    Attributes:
        asked: True if the file queried the GPU, so that it may define something else for another GPU.
        lines: first line of each statement that was skipped.
        reason: why the first of these statements was skipped.
    """

    asked: bool = False
    lines: list[int] = field(default_factory=list)
    reason: str = ""


_GPU = [DEFAULT_GPU]


def simulated_gpu() -> str:
    """Return the architecture or product that imported files see."""
    return _GPU[-1]


@contextmanager
def simulating(name: str) -> Iterator[None]:
    """Set the GPU that files imported inside the block see, on a machine without a GPU."""
    _GPU.append(name)
    try:
        yield
    finally:
        _GPU.pop()


@contextmanager
def answering(missing: Missing) -> Iterator[None]:
    """Let Triton and torch answer GPU queries during the import of a file, unless there is a real GPU."""
    patches = Patches()
    hooks = AfterImport({"torch": lambda: _torch(patches, missing), "triton": lambda: _triton(patches, missing)})
    hooks.install()
    try:
        yield
    finally:
        hooks.remove()
        patches.undo()


def execute(loader: SourceFileLoader, module: ModuleType, path: str, missing: Missing) -> None:
    """Run a module as its loader does, but skip statements that need a GPU, and later statements that fail.

    Raises:
        BaseException: any exception that the file raises before it needs a GPU.
    """
    try:
        loader.exec_module(module)
    except Exception as error:
        cause = _cause(error)
        if cause is None:
            raise
        missing.reason = str(cause)
        tree = ast.parse(loader.get_data(path), path)
        at = _top_line(error, path)
        rest = [node for node in tree.body if (node.end_lineno or node.lineno) >= at]
        missing.lines.append(rest[0].lineno)
        _statements(module, [*_future(tree), *rest[1:]], path, missing)


def _cause(error: BaseException | None) -> NoGpuError | None:
    """Return the missing-GPU error behind an error, which a library may have wrapped in its own."""
    while error is not None and not isinstance(error, NoGpuError):
        error = error.__cause__ or error.__context__
    return error


def _future(tree: ast.Module) -> list[ast.stmt]:
    return [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]


def _statements(module: ModuleType, statements: list[ast.stmt], path: str, missing: Missing) -> None:
    flags = 0
    for node in statements:
        code = compile(ast.Module([node], []), path, "exec", flags=flags, dont_inherit=True)
        # A ``from __future__`` import also applies to the statements after it.
        flags |= code.co_flags & __future__.annotations.compiler_flag
        try:
            exec(code, module.__dict__)  # noqa: S102  # the file is imported, statement by statement
        except Exception:  # noqa: BLE001  # what fails may depend on a skipped statement
            missing.lines.append(node.lineno)


def _top_line(error: BaseException, path: str) -> int:
    """Return the line of the file's top-level code that was running when the error was raised."""
    trace, line = error.__traceback__, 1
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path and trace.tb_frame.f_code.co_name == "<module>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _torch(patches: Patches, missing: Missing) -> None:
    import torch

    cuda = getattr(torch, "cuda", None)
    # A stub module in place of torch has no ``cuda``.
    if cuda is None or cuda.is_available():
        return
    gpu = gpu_of(simulated_gpu())

    def answer(value: Any) -> Callable[..., Any]:
        def call(*_args: Any, **_options: Any) -> Any:
            missing.asked = True
            return value

        return call

    patches.update(
        torch.cuda,
        {
            "_lazy_init": _refusing(missing, "a tensor on the GPU"),
            # This answer is the same in every import of kprof, so it does not set ``asked``, and the import can be
            # cached.
            "is_available": lambda: True,
            "current_device": answer(0),
            "device_count": answer(1),
            "get_device_name": answer(gpu.name),
            "get_device_capability": answer(gpu.capability),
            "get_device_properties": answer(torch_properties(gpu)),
        },
    )
    patches.set(torch.version, "hip", HIP_VERSION)
    patches.set(torch.version, "cuda", None)


def _refusing(missing: Missing, what: str) -> Callable[..., Any]:
    def refuse(*_args: Any, **_options: Any) -> Any:
        missing.asked = True
        raise NoGpuError(f"the file asks for {what}, and this machine has none")

    return refuse


def _triton(patches: Patches, missing: Missing) -> None:
    import triton.runtime

    # The package also has an attribute with this module's name, so a plain import would return the attribute.
    module = sys.modules["triton.runtime.driver"]
    original: Callable[[], Any] = module._create_driver  # noqa: SLF001

    def create() -> Any:
        try:
            return original()
        except RuntimeError:
            missing.asked = True
            return _driver(missing)

    config: Any = triton.runtime.driver
    if hasattr(config, "_default"):
        patches.set(module, "_create_driver", create)
        for name in ("_default", "_active"):
            patches.set(config, name, getattr(config, name))
    else:
        # Up to Triton 3.4, both attributes are proxies that create the driver on first use, so proxies replace them.
        for name in ("default", "active"):
            patches.set(config, name, type(config.default)(create))


def _driver(missing: Missing) -> Any:
    from kprof.simulation.driver import make_driver

    launch = _refusing(missing, "a launch on the GPU")
    return make_driver(gpu_of(simulated_gpu()), lambda: 0, launch, launch)
