"""Code for terminals: first frame, clipboard, editor, paste; also garbage collection.

Imports text.
"""
