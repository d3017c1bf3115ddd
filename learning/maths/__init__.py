"""Pure functions on tensors, and optimizers.

Imports nothing else of learning.
"""
