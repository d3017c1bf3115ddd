"""The user interface: the app, the line mode and the shell commands."""

__version__ = "0.1.0"
