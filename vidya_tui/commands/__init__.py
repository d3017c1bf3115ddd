"""Slash commands and keys: their table, parser and keymap.

Imports text and settings.
"""
