"""Registry of the servers that kprof knows."""

from kprof.errors import KprofError, near_hint
from kprof_servers.served.aiter import AiterServer
from kprof_servers.served.interface import ModelServer
from kprof_servers.served.sglang import SglangServer
from kprof_servers.served.vllm import VllmServer

SERVERS: dict[str, ModelServer] = {each.name: each for each in (VllmServer(), SglangServer(), AiterServer())}


def server_of(name: str) -> ModelServer:
    """Return the server that the user names.

    Raises:
        KprofError: kprof knows no server of this name.
    """
    found = SERVERS.get(name.lower())
    if found is None:
        raise KprofError(f"--server: no server {name!r}", hint=near_hint(name, SERVERS, "They are"))
    return found
