"""The Textual app: one window, its event loop and its end.

Imports screens, widgets, controller and below.
"""
