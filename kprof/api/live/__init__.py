"""Questions answered by processes that stay warm: :class:`kprof.Session`, and the server for agents on top of it."""
