"""Measurements joined to the compiled kernel, and what they say of its findings."""
