"""Trains on a whole book until the model knows it; can be interrupted and resumed.

Imports memory, book and below; never lessons or practice.
"""
