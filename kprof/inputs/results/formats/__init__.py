"""One file a format; each defines ``FORMAT``. No file is of two of them."""
