"""The owner's book as a file: reading, checking, appending and repairing it.

No torch; imports journal, protocol and text.
"""
