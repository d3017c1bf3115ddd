"""`vidya --plain`: the same conversation line by line. No Textual.

Imports controller, state, session.
"""
