"""Which arm comes next: a task at one difficulty in practice, a source of text in pre-training.

Imports maths, and objectives for what settings are made of. It knows neither tasks nor text.
"""
