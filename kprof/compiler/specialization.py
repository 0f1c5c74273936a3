"""Convert a request's specialization to the form used in documents."""

from typing import Any

from kprof.compiler.request import CompileRequest, DtypeRef, FunctionRef
from kprof.document import Specialization


def specialization_of(request: CompileRequest) -> Specialization:
    """Return the specialization of a request in the form used in documents."""
    return Specialization(
        signature={name: str(kind) for name, kind in request.signature.items()},
        constexprs={name: _plain(value) for name, value in request.constexprs.items()},
        attributes={name: dict(hints) for name, hints in request.attributes.items() if hints},
        options=dict(request.options),
        environment={name: value or "" for name, value in request.environment.items()},
    )


def _plain(value: Any) -> Any:
    """Convert a compile-time value to a JSON value."""
    if isinstance(value, DtypeRef | FunctionRef):
        return value.name
    return list(value) if isinstance(value, tuple) else value
