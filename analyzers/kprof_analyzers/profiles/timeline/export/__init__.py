"""Traces written for other viewers."""
