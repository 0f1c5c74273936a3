"""Draw a breakdown of GPU time as SVG and for a terminal."""
