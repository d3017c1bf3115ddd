"""Which problems are practised next: one task, several by a curriculum, few examples, or a fixed order.

A source yields problems and hears how their answers were scored; the trainer knows nothing else of it.
"""
