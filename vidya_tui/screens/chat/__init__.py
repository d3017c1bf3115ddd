"""The chat screen, its commands and its keys.

Imports widgets, controller, state.
"""
