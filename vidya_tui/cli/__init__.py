"""The shell commands, one module per command.

Imports everything below; loads torch and Textual only when a command needs them.
"""
