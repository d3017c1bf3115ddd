"""Trains an adapter through lessons about invented lives, so that a model learns to be taught.

Imports lessons, memory and below; only its own command line starts it.
"""
