"""Losses and their gradients over batches of examples.

Imports data and maths.
"""
