"""Training on a whole book until it is known; can be broken off and resumed.

Imports memory, book and below; never lessons or practice.
"""
