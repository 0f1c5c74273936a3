"""Process that compiles with Triton 3.0 to 3.3, which kprof does not support, and only returns code as text.

Started by :mod:`validation.benchmarks.model.environments` with such a Triton in front of the module path. It reads
requests (lines of JSON, see :meth:`kprof.compiler.request.CompileRequest.to_json`) and answers each with the kernel's
TTGIR and assembly. Triton's own ``compile`` is not called, because it needs a GPU driver and a linker.
"""

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from kprof.children import own_streams
from kprof.compiler.request import CompileRequest, DtypeRef, FunctionRef, from_json
from kprof.compiler.versions import warp_size
from validation.benchmarks.model.elsewhere import send

STAGES = ("ttir", "ttgir", "llir", "amdgcn")
_LOADED: dict[str, ModuleType] = {}


def main() -> None:
    """Serve requests until standard input ends."""
    source, answers = own_streams(2)
    for line in os.fdopen(source.fileno(), "rb", closefd=False):
        try:
            answer = {"kind": "compiled", **_compiled(from_json(json.loads(line)))}
            last = {"kind": "done"}
        except Exception as error:  # noqa: BLE001  # whatever it is, the next request is to be served
            answer = None
            last = {"kind": "failed", "error": f"{type(error).__name__}: {' '.join(str(error).split())[:400]}"}
        for part in (answer, last):
            if part is not None:
                send(answers, part)


def _compiled(request: CompileRequest) -> dict[str, Any]:
    """Return stages and metadata of one compile."""
    import triton
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    for name, value in request.environment.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    target = GPUTarget("hip", request.arch, warp_size(request.arch))
    backend = make_backend(target)
    options = backend.parse_options(dict(request.options))
    numbers = tuple(int(part) for part in triton.__version__.split(".")[:2])
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    code = backend.get_codegen_implementation(*([options] if numbers >= (3, 3) else []))
    modules = [backend.get_module_map()] if numbers >= (3, 2) else []
    module = _source(request, numbers).make_ir(options, code, *modules, context)
    makers: dict[str, Any] = {}
    backend.add_stages(makers, options)
    metadata: dict[str, Any] = {**vars(options), "target": None, "triton_version": triton.__version__}
    stages: dict[str, str] = {}
    for stage in STAGES:
        module = makers[stage](module, metadata)
        stages[stage] = str(module)
    kept = {name: value for name, value in metadata.items() if isinstance(value, bool | int | float | str)}
    return {"stages": {name: stages[name] for name in ("ttgir", "amdgcn")}, "metadata": kept}


def _source(request: CompileRequest, numbers: tuple[int, ...]) -> Any:
    """Return Triton's ``ASTSource``; each release has its own form of compile-time values and hints."""
    from triton.compiler.compiler import ASTSource

    function = _function(request.path, request.function)
    places = {name: place for place, name in enumerate(request.signature)}
    constants = {name: _value(value) for name, value in request.constexprs.items()}
    if any("." in name for name in (*constants, *request.attributes)):
        raise ValueError("tuples as arguments are newer than this Triton")
    if numbers >= (3, 3):
        hints = {(places[n],): [[f"tt.{h}", v] for h, v in each.items()] for n, each in request.attributes.items()}
        return ASTSource(function, dict(request.signature), constants, hints)
    signature = {name: kind for name, kind in request.signature.items() if name not in constants}
    return ASTSource(function, signature, constants, _hints(request.attributes, places, numbers))


def _hints(attributes: Mapping[str, Mapping[str, int]], places: Mapping[str, int], numbers: tuple[int, ...]) -> Any:
    """Return the known properties of arguments as ``AttrsDescriptor``. Before 3.2 that is only divisibility by 16."""
    found: dict[str, list[int]] = {}
    values: dict[str, int] = {}
    for name, each in attributes.items():
        for hint, value in each.items():
            found.setdefault(f"tt.{hint}", []).append(places[name])
            values[f"tt.{hint}"] = value
    if numbers < (3, 2):
        from triton.compiler.compiler import AttrsDescriptor

        return AttrsDescriptor(divisible_by_16=set(found.get("tt.divisibility", ())))
    from triton.backends.compiler import AttrsDescriptor

    described = AttrsDescriptor()
    described.arg_properties.update(found)
    described.property_values.update(values)
    return described


def _value(value: Any) -> Any:
    if isinstance(value, DtypeRef):
        from triton.language.core import dtype

        return dtype(value.name)
    return _function(value.path, value.name) if isinstance(value, FunctionRef) else value


def _function(path: str, name: str) -> Any:
    """Return a function of a kernel's file without its wrappers."""
    if path not in _LOADED:
        spec = importlib.util.spec_from_file_location(f"kernel_{len(_LOADED)}_{Path(path).stem}", path)
        if spec is None or spec.loader is None:
            raise ValueError(f"{path} is no Python file")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        _LOADED[path] = module
    found = getattr(_LOADED[path], name)
    while not hasattr(found, "arg_names") or hasattr(found, "configs"):
        found = found.fn
    return found
