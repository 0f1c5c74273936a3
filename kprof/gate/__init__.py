"""The gate: budgets, a baseline and allowances, and the verdict on a change."""
