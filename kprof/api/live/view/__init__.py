"""``kprof view``: a web page on top of a session, served only to browsers on this machine."""
