"""Practice alone: problems with an answer that a program can check, and learning from the scores."""
