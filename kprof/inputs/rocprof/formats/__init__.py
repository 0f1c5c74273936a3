"""Profile formats; each module defines ``FORMAT``, or ``FORMATS`` for several similar formats."""
