"""Tuned-configuration files of inference servers: readers that keep the place of every value, and checks.

``formats`` has a file for each format, ``checks`` has one for each rule or family of rules; the folders are the
registry. Configurations are never executed, not even Python files.
"""
