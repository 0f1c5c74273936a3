"""Pictures of a breakdown: hand-written SVG, and the same for a terminal."""
