"""Reads questions: is a message a question, whom is it about, and what kind of answer does it want?"""
