"""The gate (``kprof check``): judge kernels by budgets, a baseline and allowances."""
