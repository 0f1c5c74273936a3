"""The measured kernels themselves, read from the packages that have them, in place of our stand-ins."""
