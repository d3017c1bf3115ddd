"""`vidya --plain`: the conversation line by line, without Textual.

Imports controller, state, session.
"""
