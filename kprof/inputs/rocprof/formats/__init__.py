"""Each file defines ``FORMAT``, or ``FORMATS`` where several are of one shape."""
