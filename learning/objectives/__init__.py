"""Loss functions over batches of examples, with their gradients.

Imports data and maths.
"""
