"""Text helpers without state: sanitising, numbers.

Imports nothing of vidya_tui.
"""
