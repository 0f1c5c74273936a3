"""The command line. Each public module of this package, except ``app``, is one command."""
