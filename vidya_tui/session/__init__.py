"""One conversation: asks, candidates, judgements; speaks to the teacher in messages. No Textual, no torch.

Imports text and settings.
"""
