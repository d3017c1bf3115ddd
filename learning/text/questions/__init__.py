"""Questions: whether a message is one, about whom it asks, and for what kind of answer. Text in, text out."""
