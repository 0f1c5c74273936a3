"""Every option, declared once: the command line, the Python functions, the tools of agents and the page follow from it.

An option is a field of a frozen group: its type, its default, and an :class:`kprof.options.option.Option` with its
sentence. A command's options are one class that inherits groups; its instance is passed down whole.
"""
