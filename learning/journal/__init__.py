"""The owner's journal in SQLite: what was said, judged and learned, and what is erased.

No torch; imports protocol and text.
"""
