"""Structural pictures in SVG and dot format, drawn without external programs."""
