"""Tuned-configuration files of others: read with the place of every value, and checked.

``formats`` has a file for each format, ``checks`` one for each rule or family of rules; the folders are the registry.
Nothing of a configuration is ever executed, Python files included.
"""
