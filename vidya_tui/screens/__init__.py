"""The app's screens.

Imports widgets, controller, state.
"""
