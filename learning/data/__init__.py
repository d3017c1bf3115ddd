"""From files to documents, to ids, to training examples.

Imports protocol and text.
"""
