"""The command line. Each public module here, except ``app``, is one command."""
