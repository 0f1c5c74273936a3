"""The command line. Each module here that is neither ``app`` nor private is one command."""
