"""Pictures of a breakdown as SVG and for a terminal."""
