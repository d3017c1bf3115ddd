"""Text in, text out: normalising, other wordings of a question, synthetic conversations.

No ids, no torch; imports nothing else of learning.
"""
