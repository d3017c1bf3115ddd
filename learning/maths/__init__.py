"""Pure functions of tensors, and optimizers.

Imports nothing else of learning.
"""
