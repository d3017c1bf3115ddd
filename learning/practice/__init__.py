"""Practice alone by GRPO on verifiable rewards.

Imports memory, rewards and below; never lessons or book_training.
"""
