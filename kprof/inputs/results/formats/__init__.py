"""Formats of result files. Each module defines ``FORMAT`` or ``FORMATS``; no file matches two formats."""
