"""What the interface knows, as frozen values, and the sentences about it. No Textual.

Imports session, commands, text.
"""
