"""The owner's settings.toml: fields, rows, themes.

Imports nothing else of vidya_tui but text.
"""
