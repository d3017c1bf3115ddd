"""Facts about terminals: first frame, clipboard, editor, paste, garbage collection.

Imports text.
"""
