"""What a message asks: whether it asks, of whom, and for what kind of answer. Text in, text out."""
