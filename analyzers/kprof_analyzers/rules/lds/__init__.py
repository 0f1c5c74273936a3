"""Rules about LDS: widths, bank conflicts, conversions."""
