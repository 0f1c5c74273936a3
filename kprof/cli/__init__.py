"""The command line. Each module here that is not ``app``, ``common`` or private is one command."""
