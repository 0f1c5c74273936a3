"""Answer queries in processes that stay warm: :class:`kprof.Session`, and the servers that are built on it."""
