"""Import users' Python files, and determine the files that the result depends on."""
