"""Each file defines ``FORMAT``, or ``FORMATS`` where several are alike."""
