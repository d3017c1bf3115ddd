"""Textual widgets: they draw values and post messages.

Imports state, commands, text.
"""
