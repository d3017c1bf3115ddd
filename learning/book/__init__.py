"""The owner's book as a file: reads, checks, edits and repairs it.

No torch; imports journal, protocol and text.
"""
