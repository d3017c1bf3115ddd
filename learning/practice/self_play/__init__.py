"""Self-play: the model asks itself the questions that it practises, and a program answers them.

Questions and answers are learned from in the same update; a truth never comes from a model.
"""
