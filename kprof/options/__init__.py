"""All options, each declared once for the command line, the Python functions, agents' tools and the page.

An option is a field of a frozen group: its type, its default, and an :class:`kprof.options.option.Option` with its
description. A command's options are one class that inherits groups; its instance is passed to the functions.
"""
