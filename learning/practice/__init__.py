"""Practice without the owner: GRPO on verifiable rewards.

Imports memory, rewards and below; never lessons or book_training.
"""
