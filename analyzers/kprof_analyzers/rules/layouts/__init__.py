"""Rules about layouts and their conversions."""
