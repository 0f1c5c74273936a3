"""Each file defines ``FORMAT``, or ``FORMATS`` where several share a key. No file that is read is of two of them."""
