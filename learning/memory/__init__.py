"""What must not be forgotten while weights change: replay, caches, margins, the guard, the transaction.

Imports objectives, models, journal, data, text and below.
"""
