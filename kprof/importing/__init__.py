"""Importing a user's Python files: one way for all who need one, and what decides whether the result still holds."""
