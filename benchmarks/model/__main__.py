"""``python -m benchmarks.model``."""

from benchmarks.model.run import main

main()
