"""Pre-trains a base model from scratch.

Imports data, text, models, maths.
"""
