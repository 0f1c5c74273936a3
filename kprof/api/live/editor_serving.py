"""Serving editors, where pygls is installed."""

from kprof.errors import KprofError

_NEEDED = frozenset({"pygls", "lsprotocol", "cattrs", "attrs"})


def serve(arch: str, *, jobs: int = 0, timeout: float = 120.0, seconds: float = 30.0) -> None:
    """Serve until the editor leaves; arguments as of :func:`kprof.api.live.lsp_server.serve`.

    Raises:
        HardwareError: there is no such GPU.
        KprofError: pygls is not installed.
    """
    from kprof.hardware.machine import load_gpu

    load_gpu(arch)
    try:
        from kprof.api.live import lsp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise KprofError("pygls is not installed", hint="pip install 'kprof[lsp]'") from None
    lsp_server.serve(arch, jobs=jobs, timeout=timeout, seconds=seconds)
