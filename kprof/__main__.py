"""Run the command line as ``python -m kprof``."""

from kprof.cli.app import main

if __name__ == "__main__":
    main()
