"""Serving editors, where pygls is installed."""

from kprof.errors import KprofError
from kprof.hardware.default import DEFAULT_GPU
from kprof.options.tools import EditorOptions
from kprof.plug_ins import install_command

_NEEDED = frozenset({"pygls", "lsprotocol", "cattrs", "attrs"})


def serve(options: EditorOptions) -> None:
    """Serve until the editor leaves.

    Args:
        options: for which GPU, and how long questions and searches may take.

    Raises:
        HardwareError: there is no such GPU.
        KprofError: pygls is not installed.
    """
    from kprof.hardware.machine import load_gpu

    arch = options.one_gpu("kprof serve lsp") or DEFAULT_GPU
    load_gpu(arch)
    try:
        from kprof.api.live import lsp_server
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _NEEDED:
            raise
        raise KprofError("pygls is not installed", hint=install_command("lsp")) from None
    lsp_server.serve(arch, jobs=options.jobs, timeout=options.timeout, seconds=options.seconds)
