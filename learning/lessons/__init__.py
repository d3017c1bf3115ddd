"""Learning one lesson at once: the recipe, undo, consolidation in pauses, forgetting.

Imports memory, book and below; never book_training or practice.
"""
