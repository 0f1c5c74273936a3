"""The measured kernels themselves, read from the packages that contain them, instead of our stand-ins."""
