"""``kprof view``: a page over a session, served to this machine's own browser only."""
