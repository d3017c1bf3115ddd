"""`kill -9` at any moment: what is lost, and whether the next start works."""
