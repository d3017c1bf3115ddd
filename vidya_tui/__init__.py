"""What the owner sees and presses."""

__version__ = "0.1.0"
