"""``python -m validation.benchmarks.model``."""

from validation.benchmarks.model.run import main

main()
