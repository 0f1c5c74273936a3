"""What a request specialises on, as the document says it."""

from typing import Any

from kprof.compiler.request import CompileRequest, DtypeRef, FunctionRef
from kprof.document import Specialization


def specialization_of(request: CompileRequest) -> Specialization:
    """What is compiled, as the document says it."""
    return Specialization(
        signature={name: str(kind) for name, kind in request.signature.items()},
        constexprs={name: _plain(value) for name, value in request.constexprs.items()},
        attributes={name: dict(hints) for name, hints in request.attributes.items() if hints},
        options=dict(request.options),
        environment={name: value or "" for name, value in request.environment.items()},
    )


def _plain(value: Any) -> Any:
    """A compile-time value as JSON can hold it."""
    if isinstance(value, DtypeRef | FunctionRef):
        return value.name
    return list(value) if isinstance(value, tuple) else value
