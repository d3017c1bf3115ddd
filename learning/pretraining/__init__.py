"""Pre-trains a base model from scratch.

Imports data, text, models, maths, objectives, curriculum; the stage of lives imports memory too.
"""
