"""Shell commands about the owner's taste: training it, showing it, rating answers with it.

Imports cli's helpers, state and learning.rewards.
"""
