"""Tuned-configuration files of inference servers: readers that keep the line and column of every value, and checks.

The folder ``formats`` has one file per format, and ``checks`` has one per rule or family of rules; files in these
folders are found automatically. Configurations are never executed, not even Python files.
"""
