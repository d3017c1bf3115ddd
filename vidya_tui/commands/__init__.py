"""Slash commands and keys as data: their table, their parser, their keymap.

Imports text and settings.
"""
