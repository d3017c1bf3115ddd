"""Carries out commands on the session and hears events. No Textual.

Imports session, state, commands and worker; never widgets.
"""
